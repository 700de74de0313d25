import { describe, expect, it, vi } from "vitest";
import { type Person, personAt } from "../../../src/cli/approval-prompt.ts";
import { hostQuestionLines, parseHostAnswer } from "../../../src/cli/host-question.ts";
import { NO_PAINT } from "../../../src/cli/paint.ts";
import { Printer } from "../../../src/cli/printer.ts";
import { Screen } from "../../../src/cli/screen.ts";
import { type FakeIo, fakeIo } from "./fake-io.ts";

const HOST = { host: "git.example.com", port: 443, rule: "user/network.ask[0]", callId: "c1" };
const CALL = { callId: "c2", tool: "write", args: { path: "a" }, effects: [], rule: "flag/approve", grant: null };
const NEVER = new AbortController().signal;

describe("the question for a host", () => {
  it("shows host, port, the call, the rule, and what `session` would cover", () => {
    expect(hostQuestionLines(HOST, "bash git clone https://git.example.com/x", NO_PAINT)).toEqual([
      "Connect to git.example.com, port 443?",
      "  for bash git clone https://git.example.com/x",
      'rule user/network.ask[0]; "session" covers this host and port, until the session ends',
    ]);
    expect(hostQuestionLines(HOST, undefined, NO_PAINT)[1]).toBe("  asked for by no running call");
  });

  it("L-14 shows a name in other letters as it is looked up, and warns of how it reads", () => {
    const [name, warning] = hostQuestionLines({ ...HOST, host: "xn--80ak6aa92e.com" }, undefined, NO_PAINT);
    expect(name).toBe("Connect to xn--80ak6aa92e.com, port 443?");
    expect(warning).toBe(
      "  ! it has letters beyond a to z and reads `\u0430\u0440\u0440\u04cf\u0435.com`: it may look like another name",
    );
  });

  it("L-14 shows what is invisible or would be executed in a name", () => {
    const [name] = hostQuestionLines({ ...HOST, host: "a\u001b[2J\u202e.test" }, undefined, NO_PAINT);
    expect(name).toBe("Connect to a\\x1b[2J\\u202e.test, port 443?");
  });
});

describe("an answer to it", () => {
  it.each([
    ["y", { type: "yes", scope: "connection" }],
    [" Yes ", { type: "yes", scope: "connection" }],
    ["s", { type: "yes", scope: "session" }],
    ["a", { type: "yes", scope: "session" }],
    ["n", { type: "no" }],
    ["", { type: "no" }],
    ["yes please", { type: "no" }],
    ["git.example.com", { type: "no" }],
  ])("%j", (line, answer) => {
    expect(parseHostAnswer(line)).toEqual(answer);
  });
});

type Terminal = { io: FakeIo; screen: Screen; person: Person; interrupted: () => number };

function atTerminal(): Terminal {
  const io = fakeIo();
  io.stdin.isTTY = true;
  io.stderr.isTTY = true;
  const screen = new Screen({ out: new Printer(io.stdout), err: io.stderr, paint: NO_PAINT });
  let interrupts = 0;
  const onInterrupt = (): number => interrupts++;
  const person = personAt({ io, screen, paint: NO_PAINT, describe: () => "bash git fetch", onInterrupt });
  if (!person) throw new Error("there is a person at a terminal");
  return { io, screen, person, interrupted: () => interrupts };
}

function shown(io: FakeIo, text: string): Promise<void> {
  return vi.waitFor(() => expect(io.stderr.text).toContain(text), { timeout: 10_000 });
}

describe("a person who is asked for a host", () => {
  it("answers at the terminal", async () => {
    const { io, person } = atTerminal();
    const answer = person.hosts.ask(HOST, NEVER);
    await shown(io, "[s]ession");
    io.stdin.write("s\r");
    expect(await answer).toEqual({ type: "yes", scope: "session" });
  });

  it("has one question before them at a time, be it for a host or for a call", async () => {
    const { io, person } = atTerminal();
    const first = person.hosts.ask(HOST, NEVER);
    const second = person.calls.ask(CALL, NEVER);
    const third = person.hosts.ask({ ...HOST, host: "other.example.com" }, NEVER);
    await shown(io, "[s]ession");
    expect(io.stderr.text).not.toMatch(/Allow write|other\.example/);
    io.stdin.write("y\r");
    await shown(io, "or why not");
    expect(io.stderr.text).not.toContain("other.example");
    io.stdin.write("n\r");
    await shown(io, "Connect to other.example.com");
    await vi.waitFor(() => expect(io.stderr.text.match(/\[s\]ession/g)).toHaveLength(2), { timeout: 10_000 });
    io.stdin.write("\r");
    expect(await Promise.all([first, second, third])).toEqual([
      { type: "yes", scope: "connection" },
      { type: "no", reason: null },
      { type: "no" },
    ]);
  });

  it("is not asked what nobody waits for any more, and those behind keep their turn", async () => {
    const { io, person } = atTerminal();
    const first = person.hosts.ask(HOST, NEVER);
    const gone = new AbortController();
    const second = person.hosts.ask({ ...HOST, host: "gone.example.com" }, gone.signal);
    const third = person.hosts.ask({ ...HOST, host: "third.example.com" }, NEVER);
    await shown(io, "[s]ession");
    gone.abort();
    expect(await second).toEqual({ type: "no" });
    expect(io.stderr.text).not.toContain("third.example");
    io.stdin.write("n\r");
    await shown(io, "third.example.com");
    await vi.waitFor(() => expect(io.stderr.text.match(/\[s\]ession/g)).toHaveLength(2), { timeout: 10_000 });
    io.stdin.write("y\r");
    expect(await Promise.all([first, third])).toEqual([{ type: "no" }, { type: "yes", scope: "connection" }]);
    expect(io.stderr.text).not.toContain("gone.example");
  });

  it("sees at the question's own line that it is withdrawn, before anything that was held back", async () => {
    const { io, screen, person } = atTerminal();
    const gone = new AbortController();
    const answer = person.hosts.ask(HOST, gone.signal);
    await shown(io, "[s]ession");
    screen.line("a row of a call");
    gone.abort();
    expect(await answer).toEqual({ type: "no" });
    expect(io.stderr.text).toMatch(/\[n\]o: [^\n]*\(withdrawn\)\n[\s\S]*a row of a call\n$/);
  });

  it("who was typing an answer to a question that is withdrawn has not answered the next one", async () => {
    const { io, person } = atTerminal();
    const gone = new AbortController();
    const first = person.hosts.ask(HOST, gone.signal);
    await shown(io, "[s]ession");
    io.stdin.write("s");
    const next = person.hosts.ask({ ...HOST, host: "next.example.com" }, NEVER);
    gone.abort();
    expect(await first).toEqual({ type: "no" });
    await shown(io, "next.example.com");
    io.stdin.write("s\r");
    await vi.waitFor(() => expect(io.stderr.text.match(/\[s\]ession/g)).toHaveLength(2), { timeout: 10_000 });
    io.stdin.write("y\r");
    expect(await next).toEqual({ type: "yes", scope: "connection" });
  });

  it("O-CLI-02 who presses Ctrl-C has said no and means the run", async () => {
    const { io, person, interrupted } = atTerminal();
    const answer = person.hosts.ask(HOST, NEVER);
    await shown(io, "[s]ession");
    io.stdin.write("\u0003");
    expect([await answer, interrupted()]).toEqual([{ type: "no" }, 1]);
  });

  it("is not written over while they type; what was held back follows the answer, in its order", async () => {
    const { io, screen, person } = atTerminal();
    const answer = person.hosts.ask(HOST, NEVER);
    await shown(io, "[s]ession");
    screen.line("a row of a call");
    screen.words("words of the model\n");
    screen.line("another row");
    expect([io.stderr.text.includes("row"), io.stdout.text]).toEqual([false, ""]);
    io.stdin.write("n\r");
    await answer;
    expect(io.stderr.text).toMatch(/\[n\]o: [\s\S]*a row of a call\nanother row\n$/);
    expect(io.stdout.text).toBe("words of the model\n");
  });
});
