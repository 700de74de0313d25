import { describe, expect, it } from "vitest";
import { RunClock } from "../../../src/agent/limits.ts";
import type { HostAnswer, HostApprover } from "../../../src/egress/host-approver.ts";
import { Patience } from "../../../src/session/patience.ts";

const QUESTION = { host: "git.example.com", port: 443, rule: "user/network.ask[0]", callId: "c1" };
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

describe("a run that waits for a person who is asked for a host", () => {
  it("stands still until the answer", async () => {
    const patience = new Patience();
    const clock = new Watched();
    patience.run = { clock, signal: NEVER };
    const { approver, answer } = person();
    const asking = patience.over(approver).ask(QUESTION, NEVER);
    expect(clock.seen).toEqual(["pause"]);
    answer({ type: "yes", scope: "session" });
    expect([await asking, clock.seen]).toEqual([{ type: "yes", scope: "session" }, ["pause", "resume"]]);
  });

  it("takes the question back when it is aborted: no answer is a no", async () => {
    const patience = new Patience();
    const stop = new AbortController();
    patience.run = { clock: new Watched(), signal: stop.signal };
    const asking = patience.over(person().approver).ask(QUESTION, NEVER);
    stop.abort();
    expect(await asking).toEqual({ type: "no" });
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
