import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { ABSENT_APPROVER, type Answer, type Approver, type Question, YES_APPROVER } from "../../src/gate/approver.ts";
import { ToolGate } from "../../src/gate/tool-gate.ts";
import { BUILT_IN_POLICY, type Policy } from "../../src/policy/policy.ts";

const call = { callId: "c", tool: "bash", args: {}, effects: [{ kind: "exec" as const, command: "ls" }] };
const person: Approver = { ...YES_APPROVER, by: "person" };

function judge(layer: string, approver: Approver): Promise<{ type: string }> {
  const policy = {
    ...BUILT_IN_POLICY,
    approval: { ...BUILT_IN_POLICY.approval, exec: "ask" as const },
    origins: { "approval.exec": `${layer}/approval.exec` },
  };
  return new ToolGate({ policy, approver, askAlways: false }).judge(call, new AbortController().signal);
}

describe("a question of the policy", () => {
  it.each([
    ["the person's own", "user", "a flag", YES_APPROVER, "allow"],
    ["an organisation's", "organisation", "a person", person, "allow"],
    ["L-09 an organisation's", "organisation", "a flag", YES_APPROVER, "deny"],
  ])("%s (%s) answered with yes by %s", async (_, layer, __, approver, type) => {
    expect((await judge(layer, approver)).type).toBe(type);
  });

  it("leaves no listener behind", async () => {
    const { signal } = new AbortController();
    const gate = new ToolGate({ policy: BUILT_IN_POLICY, approver: person, askAlways: true });
    for (let count = 0; count < 3; count++) await gate.judge(call, signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it.each(["before it is asked", "while it is open"])(
    "is a no when the run is aborted %s, also by an approver that never answers",
    async (when) => {
      const controller = new AbortController();
      const silent: Approver = { by: "person", ask: () => new Promise(() => undefined) };
      if (when === "before it is asked") controller.abort();
      const judged = new ToolGate({ policy: BUILT_IN_POLICY, approver: silent, askAlways: true }).judge(
        call,
        controller.signal,
      );
      controller.abort();
      expect(await judged).toMatchObject({ type: "deny", approval: { decision: "no", reason: "aborted" } });
    },
  );

  it("L-09 a denied tool stays denied, whoever says yes", async () => {
    const policy = { ...BUILT_IN_POLICY, deniedTools: [{ value: "bash", rule: "user/tools.deny[0]" }] };
    const verdict = await new ToolGate({ policy, approver: person, askAlways: true }).judge(
      call,
      new AbortController().signal,
    );
    expect(verdict).toMatchObject({ type: "deny", denial: { by: "policy", rule: "user/tools.deny[0]" } });
  });
});

const ASKING: Policy = { ...BUILT_IN_POLICY, approval: { ...BUILT_IN_POLICY.approval, exec: "ask" } };

/** A gate before a person who gives these answers, one after the other, and what that person was asked. */
function gateFor(answers: Answer[], { policy = ASKING, by = "person" as Approver["by"] } = {}) {
  const asked: Question[] = [];
  const open = { now: 0, most: 0 };
  const approver: Approver = {
    by,
    ask: async (question) => {
      open.most = Math.max(open.most, ++open.now);
      await new Promise(setImmediate);
      open.now--;
      asked.push(question);
      return answers[asked.length - 1] ?? { type: "no", reason: null };
    },
  };
  const gate = new ToolGate({ policy, approver, askAlways: false });
  const run = async (command: string, callId = "c") => {
    const effects = [{ kind: "exec" as const, command }];
    const verdict = await gate.judge(
      { callId, tool: "bash", args: { command }, effects },
      new AbortController().signal,
    );
    return verdict.type;
  };
  return { gate, asked, open, run };
}

const ONCE: Answer = { type: "yes", scope: "call" };
const ALWAYS: Answer = { type: "yes", scope: "session" };

describe("L-10 what a yes covers", () => {
  it("is one call: the same command is asked for again", async () => {
    const { run, asked } = gateFor([ONCE, ONCE]);
    expect([await run("git push"), await run("git push"), await run("git push")]).toEqual(["allow", "allow", "deny"]);
    expect(asked.length).toBe(3);
  });

  it("is with `always` what begins with program and subcommand, and nothing beside it", async () => {
    const { run, asked } = gateFor([ALWAYS]);
    const covered = ["git push", "git push origin", 'g\\it "push" x'];
    for (const command of covered) expect([command, await run(command)]).toEqual([command, "allow"]);
    expect(asked.length).toBe(1);
    const others = ["git pull", "git push > x", "git push $(id)", "git push; ls", "git push $x", "A=1 git push"];
    for (const command of others) expect([command, await run(command)]).toEqual([command, "deny"]);
    expect(asked.length).toBe(1 + others.length);
  });

  it("is one call although the answer was `always`, for what is more than a plain command", async () => {
    const { run, asked } = gateFor([ALWAYS, ALWAYS]);
    expect([await run("git push > x"), await run("git push > x"), await run("git push > x")]).toEqual([
      ...["allow", "allow", "deny"],
    ]);
    expect(asked.map(({ grant }) => grant)).toEqual([null, null, null]);
  });

  it("ends with the session: another gate asks anew", async () => {
    expect(await gateFor([ALWAYS]).run("git push")).toBe("allow");
    expect(await gateFor([]).run("git push")).toBe("deny");
  });

  it("is never a deny: a rule that forbids is not asked about, whatever was granted", async () => {
    const policy: Policy = {
      ...ASKING,
      commands: {
        restrict: [{ words: ["git", "push", "--force"], decision: "deny", rule: "user/commands[0]" }],
        allow: [],
      },
    };
    const { run, asked } = gateFor([ALWAYS], { policy });
    expect([await run("git push"), await run("git push x"), await run("git push --force")]).toEqual([
      ...["allow", "allow", "deny"],
    ]);
    expect(asked.length).toBe(1);
  });

  it("L-09 is one call when no person gave it, so that a flag's `always` answers no organisation", async () => {
    const { run, asked } = gateFor([ALWAYS, ALWAYS], { by: "flag" });
    expect([await run("git push"), await run("git push")]).toEqual(["allow", "allow"]);
    expect(asked.length).toBe(2);
  });
});

describe("L-11 identical calls at the same time", () => {
  const three = (run: (command: string, id: string) => Promise<string>) =>
    Promise.all(["a", "b", "c"].map((id) => run("git push", id)));

  it("are asked for one at a time, in their order, and one yes covers one of them", async () => {
    const { run, asked, open } = gateFor([ONCE, { type: "no", reason: null }, ONCE]);
    expect(await three(run)).toEqual(["allow", "deny", "allow"]);
    expect([asked.map(({ callId }) => callId), open.most]).toEqual([["a", "b", "c"], 1]);
  });

  it("are asked for once when the answer is `always`", async () => {
    const { run, asked } = gateFor([ALWAYS]);
    expect(await three(run)).toEqual(["allow", "allow", "allow"]);
    expect(asked.map(({ callId }) => callId)).toEqual(["a"]);
  });

  it("do not wait for a question in front of them when they are aborted", async () => {
    const silent: Approver = { by: "person", ask: () => new Promise(() => undefined) };
    const gate = new ToolGate({ policy: ASKING, approver: silent, askAlways: false });
    void gate.judge(call, new AbortController().signal);
    const controller = new AbortController();
    const second = gate.judge(call, controller.signal);
    controller.abort();
    expect(await second).toMatchObject({ type: "deny", approval: { reason: "aborted" } });
  });
});

describe("L-12 where nobody can be asked", () => {
  it.each([
    ["an effect", {}, "approval.exec", "approval: { exec: allow }"],
    [
      "a command",
      { restrict: [{ words: ["ls"], decision: "ask", rule: "user/commands[0]" }] },
      "commands[0]",
      "--approve auto",
    ],
  ] as const)(
    "the question for %s is a no that names the rule and what a person could do",
    async (_, rules, rule, way) => {
      const policy = {
        ...ASKING,
        origins: { "approval.exec": "user/approval.exec" },
        commands: { restrict: [], allow: [], ...rules },
      };
      const base =
        rules === undefined || !("restrict" in rules) ? policy : { ...policy, approval: BUILT_IN_POLICY.approval };
      const gate = new ToolGate({ policy: base, approver: ABSENT_APPROVER, askAlways: false });
      const verdict = await gate.judge(call, new AbortController().signal);
      if (verdict.type !== "deny") throw new Error("allowed");
      expect(verdict).toMatchObject({
        reason: "denied_noninteractive",
        denial: { by: "approval", rule: `user/${rule}` },
      });
      expect(verdict.text).toContain(`(rule user/${rule})`);
      expect(verdict.text).toContain(way);
    },
  );

  it("a flag is told that only a person may answer an organisation", async () => {
    const policy = { ...ASKING, origins: { "approval.exec": "organisation/approval.exec" } };
    const gate = new ToolGate({ policy, approver: YES_APPROVER, askAlways: false });
    const verdict = await gate.judge(call, new AbortController().signal);
    expect(verdict.type === "deny" && verdict.text).toContain("only a person may answer this");
  });
});
