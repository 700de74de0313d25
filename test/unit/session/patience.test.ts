import { describe, expect, it } from "vitest";
import { RunClock } from "../../../src/agent/limits.ts";
import type { ToolResult } from "../../../src/core/tool-result.ts";
import type { HostAnswer, HostApprover } from "../../../src/egress/host-approver.ts";
import { Patience } from "../../../src/session/patience.ts";

const QUESTION = { host: "git.example.com", port: 443, rule: "user/network.ask[0]", callId: "c1" };
const OTHER = { ...QUESTION, callId: "c0" };
const NEVER = new AbortController().signal;

/** A person who answers when they are told to, or not at all. */
function person(): { approver: HostApprover; answer: (answer: HostAnswer) => void } {
  const { promise, resolve } = withResolver<HostAnswer>();
  const ask: HostApprover["ask"] = (_, signal) =>
    new Promise((settle) => {
      void promise.then(settle);
      signal.addEventListener("abort", () => settle({ type: "no" }));
    });
  return { approver: { by: "person", ask }, answer: resolve };
}

function withResolver<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Counts as a clock would that is looked at instead of waited for. */
class Watched {
  readonly seen: string[] = [];
  pause = (): unknown => this.seen.push("pause");
  resume = (): unknown => this.seen.push("resume");
}

type Call = { patience: Patience; clock: Watched; end: () => Promise<unknown> };

/** A run in which the call `c1` is running. */
function running(signal = NEVER): Call {
  const patience = new Patience();
  const clock = new Watched();
  patience.run = { clock, signal };
  const { promise, resolve } = withResolver<ToolResult>();
  const sandbox = patience.during({ failure: undefined, call: () => promise });
  const options = { signal: NEVER, onOutput: () => undefined };
  const ended = sandbox.call({ tool: "bash", args: {}, deadlineMs: 1000, callId: "c1" }, options);
  const end = (): Promise<unknown> => {
    resolve({ status: "ok", content: [], details: {} });
    return ended;
  };
  return { patience, clock, end };
}

describe("a run that waits for a person who is asked for a host", () => {
  it("stands still until the answer", async () => {
    const { patience, clock } = running();
    const { approver, answer } = person();
    const asking = patience.over(approver).ask(QUESTION, NEVER);
    expect(clock.seen).toEqual(["pause"]);
    answer({ type: "yes", scope: "session" });
    expect([await asking, clock.seen]).toEqual([{ type: "yes", scope: "session" }, ["pause", "resume"]]);
  });

  it("takes the question back when it is aborted: no answer is a no", async () => {
    const stop = new AbortController();
    const { patience } = running(stop.signal);
    const asking = patience.over(person().approver).ask(QUESTION, NEVER);
    stop.abort();
    expect(await asking).toEqual({ type: "no" });
  });

  it("goes on although nobody has answered what a job wants that outlived its call, or what no call wants", () => {
    const { patience, clock } = running();
    const hosts = patience.over(person().approver);
    void hosts.ask(OTHER, NEVER);
    void hosts.ask({ ...QUESTION, callId: null }, NEVER);
    expect(clock.seen).toEqual([]);
  });

  it("goes on when the call ends that has left its question behind, and not once more with the answer", async () => {
    const { patience, clock, end } = running();
    const { approver, answer } = person();
    const asking = patience.over(approver).ask(QUESTION, NEVER);
    await end();
    expect(clock.seen).toEqual(["pause", "resume"]);
    answer({ type: "no" });
    await asking;
    void patience.over(person().approver).ask(QUESTION, NEVER);
    expect(clock.seen).toEqual(["pause", "resume"]);
  });

  it("asks between runs too", async () => {
    const { approver, answer } = person();
    answer({ type: "yes", scope: "connection" });
    expect(await new Patience().over(approver).ask(QUESTION, NEVER)).toEqual({ type: "yes", scope: "connection" });
  });
});

describe("the clock of a run", () => {
  it("goes on when all are through for whom it stands still, and not before", async () => {
    const clock = new RunClock(60);
    clock.pause();
    clock.pause();
    clock.resume();
    const stopped = clock.usedSeconds;
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(clock.usedSeconds).toBe(stopped);
    clock.resume();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(clock.usedSeconds).toBeGreaterThan(stopped);
  });
});
