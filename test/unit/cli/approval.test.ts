import { describe, expect, it, vi } from "vitest";
import { personAt } from "../../../src/cli/approval-prompt.ts";
import { answerPrompt, parseAnswer, questionLines, showBlanks } from "../../../src/cli/approval-question.ts";
import { NO_PAINT } from "../../../src/cli/paint.ts";
import { Printer } from "../../../src/cli/printer.ts";
import { Screen } from "../../../src/cli/screen.ts";
import { type FakeIo, fakeIo } from "./fake-io.ts";

const question = {
  callId: "c1",
  tool: "bash",
  args: { command: "git push\nrm x", timeout: 5 },
  effects: [],
  rule: "flag/approve",
  grant: "exactly this command",
};

function person(io: FakeIo, onInterrupt = (): void => undefined) {
  const screen = new Screen({ out: new Printer(io.stdout), err: io.stderr, paint: NO_PAINT });
  return personAt({ io, screen, paint: NO_PAINT, describe: () => undefined, onInterrupt });
}

describe("the question", () => {
  it("shows the complete arguments, the rule, and what always would cover", () => {
    expect(questionLines(question, NO_PAINT)).toEqual([
      "Allow bash?",
      "  command:",
      "  │ git push",
      "  │ rm x",
      "  timeout: 5",
      'rule flag/approve; "always" covers exactly this command, until the session ends',
    ]);
  });

  it("offers no `always` where it would cover nothing beyond this call", () => {
    const unique = { ...question, grant: null };
    expect(questionLines(unique, NO_PAINT).at(-1)).toBe(
      'rule flag/approve; no "always": this is more than one plain command',
    );
    expect(answerPrompt(unique)).not.toContain("always");
    expect(answerPrompt(question)).toContain("[a]lways");
  });

  it("says how many lines there are where some may scroll away, and cuts none", () => {
    const long = {
      ...question,
      args: { command: Array.from({ length: 300 }, (_, line) => `echo ${line}`).join("\n") },
    };
    const lines = questionLines(long, NO_PAINT);
    expect([lines[1], lines.length]).toEqual(["  command (300 lines):", 303]);
  });

  it("L-14 shows what is invisible: controls, directions, zero width, fillers", () => {
    const hidden = "a\u001b[8m\u202eb\u200bc\u3164d\u{e0041}e\rf\u0000";
    const [, shown] = questionLines({ ...question, args: { command: hidden } }, NO_PAINT);
    expect(shown).toBe("  command: a\\x1b[8m\\u202eb\\u200bc\\u3164d\\u{e0041}e\\x0df\\x00");
  });

  it("marks long blanks, so that nothing is pushed off the screen", () => {
    expect(showBlanks(`ls${" ".repeat(120)}; rm -rf x`)).toBe("ls␣×120; rm -rf x");
    expect(showBlanks(`a${"\u3000".repeat(20)}b`)).toBe("a␣×20b");
    expect(showBlanks(`a${"\t".repeat(30)}b`)).toBe("a⇥×30b");
    expect(showBlanks(`a${"\n".repeat(60)}b`)).toBe("a\n(59 empty lines)\nb");
    expect(showBlanks(`a${" \t".repeat(30)}b`)).toBe("a␣×60b");
    expect(showBlanks(`a${"\n  \t".repeat(60)}\nb`)).toBe("a\n(60 empty lines)\nb");
    expect(showBlanks("a    b\n\nc")).toBe("a    b\n\nc");
  });
});

describe("an answer", () => {
  it.each([
    ["y", { type: "yes", scope: "call" }],
    [" YES ", { type: "yes", scope: "call" }],
    ["a", { type: "yes", scope: "session" }],
    ["always", { type: "yes", scope: "session" }],
    ["n", { type: "no", reason: null }],
    ["", { type: "no", reason: null }],
    ["yes, but not now", { type: "no", reason: "yes, but not now" }],
  ])("%j", (line, answer) => {
    expect(parseAnswer(line)).toEqual(answer);
  });
});

describe("a person", () => {
  it("is absent without a terminal: piped input is never consent (O-CLI-01)", () => {
    const io = fakeIo();
    expect(person(io)).toBeUndefined();
    io.stdin.isTTY = true;
    expect(person(io)).toBeUndefined();
  });

  function atTerminal(): FakeIo {
    const io = fakeIo();
    io.stdin.isTTY = true;
    io.stderr.isTTY = true;
    return io;
  }

  function asked(io: FakeIo): Promise<void> {
    return vi.waitFor(() => expect(io.stderr.text).toContain("or why not"));
  }

  it("answers at the terminal; what was typed before the question counts for nothing", async () => {
    const io = atTerminal();
    io.stdin.write("y\n");
    const answer = person(io)?.calls.ask(question, new AbortController().signal);
    await asked(io);
    io.stdin.write("rather not\r");
    expect(await answer).toEqual({ type: "no", reason: "rather not" });
  });

  it("who closes the input has said no", async () => {
    const io = atTerminal();
    const answer = person(io)?.calls.ask(question, new AbortController().signal);
    await asked(io);
    io.stdin.end();
    expect(await answer).toEqual({ type: "no", reason: null });
  });

  it("who presses Ctrl-C has said no and means the run", async () => {
    const io = atTerminal();
    let interrupted = 0;
    const answer = person(io, () => interrupted++)?.calls.ask(question, new AbortController().signal);
    await asked(io);
    io.stdin.write("\u0003");
    expect(await answer).toEqual({ type: "no", reason: null });
    expect(interrupted).toBe(1);
  });

  it("is no longer asked when the run is aborted", async () => {
    const io = atTerminal();
    const controller = new AbortController();
    const answer = person(io)?.calls.ask(question, controller.signal);
    await asked(io);
    controller.abort();
    expect(await answer).toEqual({ type: "no", reason: null });
  });
});
