import { describe, expect, it, vi } from "vitest";
import { questionLines } from "../../../src/cli/approval-question.ts";
import { NO_PAINT } from "../../../src/cli/paint.ts";
import { Printer } from "../../../src/cli/printer.ts";
import { failureLines } from "../../../src/cli/report-failure.ts";
import { RunView } from "../../../src/cli/run-view.ts";
import { Screen } from "../../../src/cli/screen.ts";
import { Transcript } from "../../../src/cli/transcript.ts";
import type { Fact, SessionEvent } from "../../../src/core/events.ts";
import type { EventLine } from "../../../src/session/history.ts";
import { fakeIo } from "./fake-io.ts";

const HOSTILE = "a\u001b]52;c;cm0gLXJm\u0007\u001b[2J\u009b31m\u202e\u200b\u2066\rz";
// Whatever is not printable, a newline, or a colour of ours.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern is for
const ACTIVE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b]/;
// How the screen takes back what it has drawn.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern is for
const ERASE = /\r\x1b\[2K(\x1b\[1A\x1b\[2K)*/g;

const stamp = { seq: 1, id: "00000000", ts: "2026-01-01T00:00:00.000Z", mono: 1, parent_id: null };
const call = { type: "tool_call" as const, id: "c1", name: HOSTILE, arguments: JSON.stringify({ path: HOSTILE }) };
const facts: Fact[] = [
  { type: "user", source: "prompt", content: HOSTILE },
  {
    type: "assistant",
    model: "m",
    provider: "p",
    api: "a",
    stop_reason: "stop",
    content: [{ type: "text", text: HOSTILE }, call],
    usage: null,
    reported_usd: null,
    response_id: null,
  },
  {
    type: "tool_result",
    call_id: "c1",
    tool_name: HOSTILE,
    status: "invalid",
    content: [{ type: "text", text: HOSTILE }],
    is_error: true,
    duration_ms: 1,
    details: {},
  },
  {
    type: "request_failed",
    number: 1,
    error: { code: "INTERNAL", message: HOSTILE, hint: HOSTILE },
    partial_chars: 0,
    will_retry: true,
  },
  { type: "approval", call_id: "c1", decision: "no", by: "person", scope: "call", reason: HOSTILE },
  { type: "run_end", outcome: "failed", error: { code: "INTERNAL", message: HOSTILE, hint: HOSTILE } },
];

describe("escape sequences act on no terminal (O-SEC-03)", () => {
  it("in text mode", () => {
    const io = fakeIo();
    const screen = new Screen({ out: new Printer(io.stdout), err: io.stderr, paint: NO_PAINT });
    const view = new RunView({ screen, paint: NO_PAINT, words: true });
    const live: SessionEvent[] = [
      { type: "text_delta", live: true, text: HOSTILE },
      { type: "retry_wait", live: true, delay_ms: 1, attempt: 1, message: HOSTILE },
      { type: "status", live: true, text: HOSTILE },
    ];
    for (const event of [...live, ...facts.map((fact) => ({ ...fact, ...stamp }) as SessionEvent)]) view.event(event);
    view.progress(HOSTILE);
    view.reaped({ removed: [{ kind: "container", name: HOSTILE, session: HOSTILE }], problems: [HOSTILE] });
    screen.end();
    expect(io.stdout.text + io.stderr.text).not.toMatch(ACTIVE);
    expect(io.stdout.text).toContain("a\\x1b]52;c;cm0gLXJm\\x07\\x1b[2J\\x9b31m\\u202e\\u200b\\u2066\\x0dz");
  });

  it("T34 in the live output of a command on a terminal", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    const io = fakeIo();
    io.stderr.isTTY = true;
    const screen = new Screen({ out: new Printer(io.stdout), err: io.stderr, paint: NO_PAINT });
    screen.begin("bash");
    screen.output(`${HOSTILE}\n`);
    vi.advanceTimersByTime(900);
    expect(io.stderr.text).toBe("");
    vi.advanceTimersByTime(400);
    const drawn = io.stderr.text;
    screen.end();
    vi.useRealTimers();
    expect(drawn).toContain("\\x1b]52");
    expect(drawn.replace(ERASE, "")).not.toMatch(ACTIVE);
  });

  it("in a transcript", () => {
    const header = {
      type: "session",
      version: 1,
      id: "i",
      created_at: stamp.ts,
      cwd: HOSTILE,
      workspace_id: "",
      app_version: HOSTILE,
    } as const;
    const summary = { header, outcome: "failed", turns: 1, toolCalls: 1, prompt: HOSTILE, isTorn: false } as const;
    const transcript = new Transcript(summary, { columns: 80, paint: NO_PAINT });
    const lines = [
      ...transcript.lines({ type: "header", header }),
      ...facts.flatMap((fact) => transcript.lines({ type: "event", event: { ...fact, ...stamp } as EventLine })),
    ];
    expect(lines.join("\n")).not.toMatch(ACTIVE);
  });

  it("in an error and in a question", () => {
    const question = {
      callId: "c",
      tool: HOSTILE,
      args: { [HOSTILE]: HOSTILE },
      effects: [],
      rule: HOSTILE,
      grant: HOSTILE,
    };
    const lines = [
      ...failureLines({ code: "USAGE", message: HOSTILE, hint: HOSTILE }, fakeIo()),
      ...questionLines(question, NO_PAINT),
    ];
    expect(lines.join("\n")).not.toMatch(ACTIVE);
  });
});
