import { describe, expect, it } from "vitest";
import type { CallDeps } from "../../src/agent/call.ts";
import { runCallGroup } from "../../src/agent/call-group.ts";
import { Journal } from "../../src/agent/journal.ts";
import { RunClock } from "../../src/agent/limits.ts";
import type { Fact, LiveEvent } from "../../src/core/events.ts";
import type { ToolCallPart } from "../../src/core/messages.ts";
import type { ToolResult } from "../../src/core/tool-result.ts";
import { type Approver, YES_APPROVER } from "../../src/gate/approver.ts";
import { ToolGate } from "../../src/gate/tool-gate.ts";
import { BUILT_IN_POLICY } from "../../src/policy/policy.ts";
import { toolOffers } from "../../src/tools/catalogue.ts";

const OK: ToolResult = { status: "ok", content: [{ type: "text", text: "fine" }], details: {} };

/** A sandbox whose calls end when the test says so, and the log of what a group did. */
class Group {
  readonly abort = new AbortController();
  readonly log: string[] = [];
  readonly shown: LiveEvent[] = [];
  most = 0;
  failAt: string | undefined;
  readonly #running = new Map<string, () => void>();

  run(calls: readonly ToolCallPart[], approver: Approver = YES_APPROVER): Promise<void> {
    const deps: CallDeps = {
      gate: new ToolGate({ policy: BUILT_IN_POLICY, approver, askAlways: false }),
      journal: new Journal({ append: (fact) => this.#append(fact), show: (event) => this.shown.push(event) }),
      clock: new RunClock(600),
      callSeconds: 600,
      steer: () => undefined,
      tools: toolOffers(),
      sandbox: { failure: undefined, call: ({ callId = "" }, { signal }) => this.#call(callId, signal) },
    };
    const stop = () => (this.abort.signal.aborted ? ({ why: "aborted" } as const) : undefined);
    return runCallGroup(calls, deps, { signal: this.abort.signal, stop });
  }

  /** Ends a call that runs, once it does. */
  async end(id: string): Promise<void> {
    await expect.poll(() => this.#running.has(id)).toBe(true);
    this.#running.get(id)?.();
  }

  get running(): string[] {
    return [...this.#running.keys()];
  }

  async #append(fact: Fact): Promise<Fact> {
    const line = "call_id" in fact ? `${fact.type} ${fact.call_id}` : fact.type;
    if (line === this.failAt) throw new Error("the disk is full");
    this.log.push("status" in fact ? `${line} ${fact.status}` : line);
    return fact;
  }

  async #call(id: string, signal: AbortSignal): Promise<ToolResult> {
    await new Promise<void>((resolve) => {
      const end = (): void => {
        signal.removeEventListener("abort", end);
        resolve();
      };
      this.#running.set(id, end);
      this.most = Math.max(this.most, this.#running.size);
      signal.addEventListener("abort", end);
    });
    this.#running.delete(id);
    return signal.aborted ? { ...OK, status: "cancelled", reason: "interrupted" } : OK;
  }
}

const read = (id: string): ToolCallPart => ({ type: "tool_call", id, name: "read", arguments: '{"path":"f"}' });
const bash = (id: string): ToolCallPart => ({ type: "tool_call", id, name: "bash", arguments: '{"command":"true"}' });

describe("calls of one response", () => {
  it("that only read run together, and their results stand in the order of the calls", async () => {
    const group = new Group();
    const done = group.run([read("1"), read("2"), read("3")]);
    await expect.poll(() => group.running).toEqual(["1", "2", "3"]);
    for (const id of ["3", "1", "2"]) await group.end(id);
    await done;
    expect(group.log.filter((line) => line.startsWith("tool_result"))).toEqual([
      "tool_result 1 ok",
      "tool_result 2 ok",
      "tool_result 3 ok",
    ]);
    const ends = group.shown.flatMap((event) => (event.type === "tool_end" ? [event.call_id] : []));
    expect(ends).toEqual(["3", "1", "2"]);
  });

  it("have their results in the log as soon as those before them are", async () => {
    const group = new Group();
    const done = group.run([read("1"), read("2"), read("3")]);
    await group.end("1");
    await expect.poll(() => group.log.at(-1)).toBe("tool_result 1 ok");
    expect(group.running).toEqual(["2", "3"]);
    for (const id of ["2", "3"]) await group.end(id);
    await done;
  });

  it("are eight at a time at most", async () => {
    const group = new Group();
    const ids = Array.from({ length: 20 }, (_, at) => String(at));
    const done = group.run(ids.map(read));
    await expect.poll(() => group.running.length).toBe(8);
    for (const id of ids) await group.end(id);
    await done;
    expect([group.most, group.log.filter((line) => line.startsWith("tool_result")).length]).toEqual([8, 20]);
  });

  it("that change something run alone, after all before and before all behind them", async () => {
    const group = new Group();
    const done = group.run([read("1"), read("2"), bash("3"), read("4")]);
    for (const id of ["2", "1", "3", "4"]) {
      await expect.poll(() => group.running.includes(id)).toBe(true);
      if (id === "3" || id === "4") expect(group.running).toEqual([id]);
      await group.end(id);
    }
    await done;
    const started = group.log.indexOf("call_prepared 3");
    expect([group.log.indexOf("tool_result 2 ok") < started, group.log.indexOf("call_prepared 4") > started]).toEqual([
      true,
      true,
    ]);
  });

  it("each have one result when the run is aborted among them", async () => {
    const group = new Group();
    const ids = Array.from({ length: 10 }, (_, at) => String(at));
    const done = group.run(ids.map(read));
    await expect.poll(() => group.running.length).toBe(8);
    group.abort.abort();
    await done;
    expect(group.log.filter((line) => line.startsWith("tool_result"))).toEqual([
      ...ids.slice(0, 8).map((id) => `tool_result ${id} cancelled`),
      ...ids.slice(8).map((id) => `tool_result ${id} not_run`),
    ]);
  });

  it("leave nothing running when the log cannot be written", async () => {
    const group = new Group();
    group.failAt = "tool_result 1";
    const done = group.run([read("1"), read("2")]);
    const failed = expect(done).rejects.toThrow("the disk is full");
    await group.end("1");
    await expect.poll(() => group.running).toEqual(["2"]);
    await group.end("2");
    await failed;
    expect(group.running).toEqual([]);
  });
});
