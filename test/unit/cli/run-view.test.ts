import { EventEmitter } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { Interruption } from "../../../src/cli/interruption.ts";
import { NO_PAINT, paintFor } from "../../../src/cli/paint.ts";
import { Printer } from "../../../src/cli/printer.ts";
import { RunView } from "../../../src/cli/run-view.ts";
import { Screen } from "../../../src/cli/screen.ts";
import { summaryLines } from "../../../src/cli/summary.ts";
import { GloveboxError } from "../../../src/core/errors.ts";
import type { Fact, SessionEvent } from "../../../src/core/events.ts";
import type { AssistantPart } from "../../../src/core/messages.ts";
import { failedResult } from "../../../src/session/run-once.ts";
import { fakeIo, Sink } from "./fake-io.ts";

const stamp = { seq: 1, id: "00000000", ts: "2026-01-01T00:00:00.000Z", mono: 1, parent_id: null };

function logged(fact: Fact): SessionEvent {
  return { ...fact, ...stamp } as SessionEvent;
}

function assistant(...content: AssistantPart[]): SessionEvent {
  const origin = { model: "m", provider: "p", api: "a", stop_reason: "stop" as const };
  return logged({ type: "assistant", ...origin, content, usage: null, reported_usd: null, response_id: null });
}

function shown(events: SessionEvent[], words = true): { stdout: string; stderr: string } {
  const io = fakeIo();
  const screen = new Screen({ out: new Printer(io.stdout), err: io.stderr, paint: NO_PAINT });
  const view = new RunView({ screen, paint: NO_PAINT, words });
  for (const event of events) view.event(event);
  screen.end();
  return { stdout: io.stdout.text, stderr: io.stderr.text };
}

const delta = (text: string): SessionEvent => ({ type: "text_delta", live: true, text });
const call = { type: "tool_call" as const, id: "c1", name: "bash", arguments: '{"command":"ls"}' };

describe("text mode", () => {
  it("stdout is the assistant's words, each response ended by a newline; rows go to stderr", () => {
    const result = logged({
      type: "tool_result",
      call_id: "c1",
      tool_name: "bash",
      status: "ok",
      content: [{ type: "text", text: "secret output" }],
      is_error: false,
      duration_ms: 3,
      details: {},
    });
    const started = logged({ type: "request_started", number: 1 });
    expect(
      shown([
        started,
        delta("Let me "),
        delta("look."),
        assistant({ type: "text", text: "Let me look." }, call),
        result,
        started,
        assistant({ type: "text", text: "Done." }),
      ]),
    ).toEqual({ stdout: "Let me look.\nDone.\n", stderr: "✓ bash ls  3 ms\n" });
  });

  it("words of a response that broke off are called void", () => {
    const retry: SessionEvent = { type: "retry_wait", live: true, delay_ms: 2000, attempt: 1, message: "Cut" };
    expect(shown([delta("Half a"), retry, delta("Whole"), assistant({ type: "text", text: "Whole" })])).toEqual({
      stdout: "Half a\nWhole\n",
      stderr: "! the words above are void: the model's response broke off\n! retrying in 2.0 s: Cut\n",
    });
  });

  it("stdout stays empty where it is for a program", () => {
    expect(shown([delta("x"), assistant({ type: "text", text: "x" })], false).stdout).toBe("");
  });

  it("what is weaker than meant is a line each", () => {
    const detail = { ready_ms: 1, degraded: ["running as root", "no cgroup"] };
    const started = logged({
      type: "sandbox",
      event: "started",
      container_id: "c",
      image: "i",
      image_digest: "d",
      detail,
    });
    expect(shown([started]).stderr).toBe("! weaker than meant: running as root\n! weaker than meant: no cgroup\n");
  });

  it("a build without a terminal is one line a step, not a flood", () => {
    const io = fakeIo();
    const screen = new Screen({ out: new Printer(io.stdout), err: io.stderr, paint: NO_PAINT });
    const view = new RunView({ screen, paint: NO_PAINT, words: true });
    for (const words of ["Base image", "Base image: a", "Base image: b", "Runtime image: c"]) view.progress(words);
    expect(io.stderr.text).toBe("Base image …\nRuntime image …\n");
  });
});

it("a summary names the limit and its flag, and each rule that denied", () => {
  const result = {
    ...failedResult(new GloveboxError("USAGE", "x")),
    outcome: "limit" as const,
    session_id: "ID",
    turns: 3,
    tool_calls: { total: 2, errors: 2, denied: 2, synthetic: 2 },
    denials: ["a", "b"].map((call_id) => ({
      call_id,
      tool: "bash",
      by: "approval" as const,
      rule: "r",
      enable_with: "e",
    })),
    limits: { set: { turns: 3, tool_calls: 9, seconds: 9 }, used: { turns: 3, tool_calls: 2, seconds: 1 } },
    cost: { reported_usd: 0.5, estimated_usd: null, unknown_requests: 1, complete: false },
  };
  expect(summaryLines(result, NO_PAINT)).toEqual([
    "stopped at its limit of 3 turns (`--max-turns`)  3 turns · 2 calls (2 not ok) · at least $0.5000 · 0 ms",
    "2 calls denied by r: e",
    "glovebox sessions show ID",
  ]);
});

describe("colours", () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { TERM: "dumb" }, false],
    [false, { FORCE_COLOR: "1" }, true],
    [true, { FORCE_COLOR: "0" }, false],
  ])("terminal %j with %j: %j", (isTTY, env, colored) => {
    const stream = Object.assign(new Sink(), { isTTY });
    expect(paintFor(stream, env)("red", "x") !== "x").toBe(colored);
  });
});

describe("signals (O-CLI-02)", () => {
  it("the first stops, the second hurries, the third does not wait", () => {
    const signals = new EventEmitter();
    const told: string[] = [];
    const interruption = new Interruption(
      { signals, exit: (code) => told.push(`exit ${code}`) },
      { onFirst: () => told.push("first"), beforeExit: () => told.push("leaving") },
    );
    signals.emit("SIGTERM");
    expect([interruption.signal.aborted, interruption.urgent.aborted]).toEqual([true, false]);
    signals.emit("SIGINT");
    expect(interruption.urgent.aborted).toBe(true);
    signals.emit("SIGINT");
    interruption.dispose();
    expect(told).toEqual(["first", "leaving", "exit 143"]);
  });

  it("the second leaves within 1.5 s whatever the command does", () => {
    vi.useFakeTimers();
    const signals = new EventEmitter();
    const exits: number[] = [];
    const nothing = (): void => undefined;
    const interruption = new Interruption(
      { signals, exit: (code) => exits.push(code) },
      { onFirst: nothing, beforeExit: nothing },
    );
    signals.emit("SIGINT");
    signals.emit("SIGINT");
    vi.advanceTimersByTime(1500);
    interruption.dispose();
    vi.useRealTimers();
    expect(exits).toEqual([130]);
  });
});

it("a reader of stdout that goes away closes the printer, and nothing is written any more (O-CLI-03)", () => {
  const stream = new Sink();
  const printer = new Printer(stream);
  stream.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  printer.line("x");
  expect([printer.closed.aborted, stream.text]).toEqual([true, ""]);
});
