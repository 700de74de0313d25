import { describe, expect, it } from "vitest";
import { type Approver, YES_APPROVER } from "../../src/gate/approver.ts";
import { ToolGate } from "../../src/gate/tool-gate.ts";
import { BUILT_IN_POLICY } from "../../src/policy/policy.ts";

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
