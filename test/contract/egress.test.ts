import { type Duplex, duplexPair } from "node:stream";
import { describe, expect, inject, it } from "vitest";
import type { LoggedEvent } from "../../src/core/events.ts";
import type { Outlet } from "../../src/core/outlet.ts";
import { textResult } from "../../src/core/tool-result.ts";
import type { Dialler } from "../../src/egress/dialler.ts";
import { type HostApprover, type HostQuestion, NOBODY_TO_ASK } from "../../src/egress/host-approver.ts";
import { YES_APPROVER } from "../../src/gate/approver.ts";
import type { HostRule } from "../../src/policy/hosts.ts";
import { BUILT_IN_POLICY, type Policy } from "../../src/policy/policy.ts";
import type { SandboxCall } from "../../src/sandbox/sandbox.ts";
import type { SandboxProvider } from "../../src/session/provider.ts";
import { RunResult } from "../../src/session/result.ts";
import { localProvider } from "../support/local-sandbox.ts";
import { resultsIn, Scene } from "../support/run.ts";

const bundle = inject("localToolHost");
const PUBLIC = "93.184.216.34";
const NOTHING_INSIDE = { unreachable: 0, otherQuestions: 0, taken: [], heldPorts: [] };

/** A world in which every name has one public address, where whoever is there says what it is told. */
class Echo implements Dialler {
  readonly dialled: string[] = [];

  resolve(): Promise<string[]> {
    return Promise.resolve([PUBLIC]);
  }

  connect({ address, port }: { address: string; port: number }): Promise<Duplex> {
    this.dialled.push(`${address}:${port}`);
    const [near, far] = duplexPair();
    far.on("error", () => undefined);
    far.pipe(far);
    return Promise.resolve(near);
  }
}

/**
 * The tool host of this machine, where nothing may listen: for `reach HOST PORT` in a command the test does what one in a
 * container would, with the outlet that it was given. `hold` leaves the connection open.
 */
function reaching(): SandboxProvider {
  return async (request) => {
    const local = await localProvider(bundle)(request);
    const open: Duplex[] = [];
    return {
      facts: local.facts,
      failure: undefined,
      call: async (call, options) => {
        const [, verb, host, port] = /^(reach|hold) (\S+) (\d+)$/.exec(String(call.args["command"])) ?? [];
        if (host === undefined) return local.call(call, options);
        const words = await reach(request.outlet, call, { host, port: Number(port), held: verb === "hold" && open });
        const lines = await request.outlet.linesFor(call.callId ?? "", NOTHING_INSIDE, false);
        return textResult(words.startsWith("said") ? "ok" : "failed", [words, ...lines].join("\n"));
      },
      close: async () => {
        for (const end of open) end.destroy();
        await local.close();
      },
    };
  };
}

type Reaching = { host: string; port: number; held: Duplex[] | false };

async function reach(outlet: Outlet, { callId }: SandboxCall, { host, port, held }: Reaching): Promise<string> {
  const by = { callId: callId ?? null, assumed: false };
  const admitted = await outlet.lookup(host, by);
  if (!admitted?.ports.includes(port)) return "no such host";
  const [program, gate] = duplexPair();
  outlet.connect({ type: "name", name: host, port }, by, gate);
  return new Promise((resolve) => {
    gate.once("close", () => resolve("cut"));
    program.on("error", () => resolve("cut"));
    program.once("data", (bytes: Buffer) => {
      resolve(`said ${bytes.toString()}`);
      if (held) held.push(program);
      else program.end();
    });
    program.write("hello");
  });
}

function rule(host: string): HostRule {
  const all = { methods: "all", paths: "all" } as const;
  return { host, ports: [7], protocol: "tcp", private: false, inspect: false, ...all };
}

function policyWith(allow: string[], ask: string[] = []): Policy {
  const list = (name: string, hosts: string[]) => ({
    rule: `user/network.${name}`,
    items: hosts.map((host, index) => ({ value: rule(host), rule: `user/network.${name}[${index}]` })),
  });
  const hosts = [{ allow: list("allow", allow), ask: list("ask", ask) }];
  return { ...BUILT_IN_POLICY, network: { ...BUILT_IN_POLICY.network, hosts } };
}

function command(text: string): string {
  return `- calls: [ { bash: { command: "${text}" } } ]\n`;
}

const END = `- text: "Done."\n`;

function egressIn(log: readonly LoggedEvent[]): string[] {
  return log.flatMap((event) => {
    if (event.type === "egress") return [`${event.verdict} ${event.host} ${event.rule_id}`];
    if (event.type === "host_approval") return [`${event.decision} ${event.host} by ${event.by}, ${event.scope}`];
    return event.type === "egress_end" ? [`end ${event.bytes_up} ${event.bytes_down}`] : [];
  });
}

/** A person who says the same to every host. */
class Person implements HostApprover {
  readonly by = "person";
  readonly asked: HostQuestion[] = [];
  readonly #answer: Awaited<ReturnType<HostApprover["ask"]>>;

  constructor(answer: Awaited<ReturnType<HostApprover["ask"]>>) {
    this.#answer = answer;
  }

  ask(question: HostQuestion) {
    this.asked.push(question);
    return Promise.resolve(this.#answer);
  }
}

describe("a run with a network", () => {
  it("reaches what its policy admits, tells the model what was refused, and adds it up", async () => {
    await using scene = await Scene.create();
    const dialler = new Echo();
    const { result, log } = await scene.run(
      command("reach a.example.com 7") + command("reach evil.test 7") + END,
      bundle,
      {
        openSandbox: reaching(),
        policy: policyWith(["a.example.com"]),
        ways: { dialler, proxy: undefined, approver: NOBODY_TO_ASK },
      },
    );
    expect(resultsIn(log).map(([, status]) => status)).toEqual(["ok", "failed"]);
    expect(egressIn(log)).toEqual([
      "allowed a.example.com user/network.allow[0]",
      "end 5 5",
      "denied evil.test user/network.allow",
    ]);
    expect(dialler.dialled).toEqual([`${PUBLIC}:7`]);
    expect(RunResult.parse(result)).toMatchObject({
      outcome: "completed",
      exit_code: 0,
      egress: {
        ...{ allowed: 1, denied: 1, failed: 0, bytes_up: 5, bytes_down: 5, hosts: ["a.example.com"] },
        ...{ refused: [{ host: "evil.test", rule: "user/network.allow", count: 1 }], refused_unlisted: 0 },
      },
    });
    expect(JSON.stringify(log)).toMatch(/no such host\\n.*evil\.test.*--allow-host evil\.test/);
    expect(JSON.stringify(log.find(({ type }) => type === "system"))).toContain("Network: only a.example.com:7");
  });

  it("has the end of every connection in its log, also of one that was open to the last", async () => {
    await using scene = await Scene.create();
    const { log } = await scene.run(command("hold a.example.com 7") + END, bundle, {
      openSandbox: reaching(),
      policy: policyWith(["a.example.com"]),
      ways: { dialler: new Echo(), proxy: undefined, approver: NOBODY_TO_ASK },
    });
    expect(egressIn(log)).toEqual(["allowed a.example.com user/network.allow[0]", "end 5 5"]);
    const types = log.map(({ type }) => type);
    expect(types.indexOf("egress")).toBeGreaterThan(types.indexOf("call_started"));
    expect(types.at(-1)).toBe("egress_end");
  });

  it.each([
    ["without `--approve`", {}],
    ["with `--approve auto`", { approver: YES_APPROVER, askAlways: true }],
  ])(
    "L-12 denies a host that must be asked for where nobody is there, and ends with exit code 3: %s",
    async (_, options) => {
      await using scene = await Scene.create();
      const dialler = new Echo();
      const { result, log } = await scene.run(command("reach git.example.com 7") + END, bundle, {
        ...options,
        openSandbox: reaching(),
        policy: policyWith([], ["git.example.com"]),
        ways: { dialler, proxy: undefined, approver: NOBODY_TO_ASK },
      });
      expect(egressIn(log)).toEqual([
        "no git.example.com by nobody, connection",
        "denied git.example.com user/network.ask[0]",
      ]);
      expect([result.outcome, result.exit_code, dialler.dialled]).toEqual(["completed", 3, []]);
    },
  );

  it("asks a person once for a session, with the call that it is for", async () => {
    await using scene = await Scene.create();
    const approver = new Person({ type: "yes", scope: "session" });
    const reachIt = command("reach git.example.com 7");
    const { result, log } = await scene.run(reachIt + reachIt + END, bundle, {
      openSandbox: reaching(),
      policy: policyWith([], ["git.example.com"]),
      ways: { dialler: new Echo(), proxy: undefined, approver },
    });
    const [first] = resultsIn(log);
    expect(approver.asked).toEqual([
      { host: "git.example.com", port: 7, rule: "user/network.ask[0]", callId: first?.[0] },
    ]);
    expect(egressIn(log)).toEqual([
      "yes git.example.com by person, session",
      ...Array.from({ length: 2 }, () => ["allowed git.example.com user/network.ask[0]", "end 5 5"]).flat(),
    ]);
    expect([result.exit_code, result.egress.allowed]).toEqual([0, 2]);
  });

  it("takes a person's no for no, which is no fault of the run", async () => {
    await using scene = await Scene.create();
    const approver = new Person({ type: "no" });
    const { result, log } = await scene.run(command("reach git.example.com 7") + END, bundle, {
      openSandbox: reaching(),
      policy: policyWith([], ["git.example.com"]),
      ways: { dialler: new Echo(), proxy: undefined, approver },
    });
    expect(egressIn(log)).toEqual([
      "no git.example.com by person, connection",
      "denied git.example.com user/network.ask[0]",
    ]);
    expect(result.exit_code).toBe(0);
  });

  it("does not count the time that a person takes for a host", async () => {
    await using scene = await Scene.create();
    const approver: HostApprover = {
      by: "person",
      ask: () => new Promise((resolve) => setTimeout(resolve, 1500, { type: "yes", scope: "connection" })),
    };
    const { result } = await scene.run(command("reach git.example.com 7") + END, bundle, {
      openSandbox: reaching(),
      policy: policyWith([], ["git.example.com"]),
      limits: { turns: 5, toolCalls: 5, seconds: 60 },
      ways: { dialler: new Echo(), proxy: undefined, approver },
    });
    expect([result.outcome, result.timing.total_ms >= 1500]).toEqual(["completed", true]);
    // What the clock of the run has is less than the whole by what the person took.
    expect(result.limits.used.seconds * 1000).toBeLessThanOrEqual(result.timing.total_ms - 1490);
  });
});
