import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ToolArgs } from "../../../src/tools/catalogue.ts";
import { shown, TestShell } from "./test-shell.ts";

let shell: TestShell;
beforeEach(() => {
  shell = new TestShell();
});
afterEach(() => shell.close());

const text = async (args: ToolArgs<"pty">): Promise<string> => shown(await shell.pty(args));
const start = (command: string, wait?: number): Promise<string> =>
  text({ action: "start", command, ...(wait !== undefined && { wait }) });
const type = (words: string, wait = 20): Promise<string> => text({ action: "send", id: 1, text: words, wait });

/** Types and reads on until `pattern` is in what was shown: on a busy machine a program falls quiet before its answer. */
async function until(pattern: RegExp, first: Promise<string>): Promise<string> {
  for (let all = await first; ; all += await text({ action: "read", id: 1, wait: 0.3 })) {
    if (pattern.test(all)) return all;
    if (/\[job 1 (ended|was killed)/.test(all)) throw new Error(`it ended: ${all}`);
  }
}

describe("a program on a terminal", () => {
  test("37 has one of its own that controls it, of a stated size", async () => {
    const seen = await until(/40 120/, start("tty; stty size; read x </dev/tty; echo got:$x", 20));
    expect(seen).toMatch(
      /^\/dev\/pts\/\d+\n40 120\n\[job 1 is running for \d+ s, pid \d+ \(.*; log .*\/jobs\/1\/log\]$/,
    );
    const result = await shell.pty({ action: "send", id: 1, text: "word\n", wait: 20 });
    expect(shown(result)).toMatch(/^word\ngot:word\n\[job 1 ended with exit code 0 after /);
    expect([result.status, result.details.job_id, result.details.exit_code]).toEqual(["ok", 1, 0]);
  });

  test("38 is a session that goes on from one text to the next", async () => {
    await start("sh -i", 20);
    await type("v=41\n");
    await until(/\n42\n\/dev\/pts\/\d+\n/, type("echo $((v + 1)); tty\n"));
    const result = await shell.pty({ action: "send", id: 1, text: "exit 7\n", wait: 20 });
    expect(shown(result)).toContain("[job 1 ended with exit code 7 after ");
    expect(result.details.exit_code).toBe(7);
  });

  test("is interrupted by Ctrl-C and ended by Ctrl-D, as a person would", async () => {
    await start("PS1='$ ' sh -i", 20);
    await until(/begun\n/, type("echo beg''un; sleep 60\n"));
    await until(/\^C/, type("\u0003"));
    await until(/alive\n/, type("echo al''ive\n"));
    await until(/\[job 1 ended with exit code \d+ after /, type("\u0004"));
  });

  test("has job control where its shell has: Ctrl-Z stops, fg goes on", async () => {
    await start("exec bash --norc -i", 20);
    await until(/begun\n/, type("echo beg''un; sleep 60\n"));
    await until(/Stopped/, type("\u001a"));
    await until(/sleep 60\n/, type("fg\n"));
    await until(/\^C/, type("\u0003"));
    await until(/\[job 1 ended with exit code 130/, type("exit\n"));
  });

  test("begins with the directory and variables of the shell and changes nothing of them", async () => {
    await shell.run("cd /usr; export A=1; b=2; f() { echo fun; }");
    await until(/^\/usr 1 2 fun\n/, start("echo $PWD $A $b $(f); cd /; A=3", 20));
    expect(await shell.text("echo $PWD $A")).toBe("/usr 1\n");
  });

  test("is a background job: listed, read and ended by bash", async () => {
    await start("cat", 0);
    expect(shown(await shell.job(0))).toMatch(/^job 1 \(on a terminal\): running for \d+ s, .*: cat; log /);
    await type("hello\n");
    await type("more\n", 0);
    expect(shown(await shell.job(1, true))).toMatch(
      /\[\d process(es)? of it ended\]\n\[job 1 (was killed by|ended with)/,
    );
  });

  test("ends with everything in it, whatever it ignores", async () => {
    await start("trap '' HUP TERM; setsid sleep 63 & echo begun; sleep 64", 20);
    const result = await shell.pty({ action: "kill", id: 1 });
    expect(shown(result)).toMatch(/\[\d processes of it ended\]\n\[job 1 /);
    expect(await shell.text("pgrep -f '^sleep 6[34]$' | wc -l")).toBe("0\n");
  });

  test("that has ended takes no more text", async () => {
    await start("true", 20);
    const result = await shell.pty({ action: "send", id: 1, text: "x\n" });
    expect(result.status).toBe("failed");
    expect(shown(result)).toMatch(
      /^\(no output\)\n\[nothing was typed: it has ended\]\n\[job 1 ended with exit code 0/,
    );
  });

  test("is told from a job without one, and from none", async () => {
    await shell.run("sleep 60", { background: true });
    expect(await text({ action: "send", id: 1, text: "x" })).toBe(
      "Job 1 has no terminal: only what `pty` started can be typed into; see it with `bash`",
    );
    expect(await text({ action: "read", id: 2 })).toBe("No background job 2; there are: 1");
  });

  test("shows no escape sequence and no carriage return", async () => {
    const seen = await start("printf '\\033[31mred\\033[0m \\033]0;title\\007\\r10%%\\r20%%\\nend\\n'", 20);
    expect(seen).toMatch(/^20%\nend\n\[job 1 ended/);
  });

  test("whose output is cut within an escape sequence shows nothing of it", async () => {
    await until(/^a\n/, start("stty -echo; printf 'a\\033[3'; read x; printf '1mred\\n'; cat", 20));
    expect(await until(/red/, type("\n"))).toMatch(/^red\n\[/);
  });

  test("that prints without end leaves a bounded log", async () => {
    const small = new TestShell({ maxOutputFileBytes: 100_000 });
    await small.pty({ action: "start", command: "yes", wait: 0 });
    const result = await small.pty({ action: "read", id: 1, wait: 1 });
    expect(shown(result)).toMatch(/\[\d+ bytes before this are not kept any more\]/);
    expect(shown(result).length).toBeLessThan(60_000);
    const sizes = await small.text("cat state/jobs/1/log state/jobs/1/log.old | wc -c");
    expect(Number(/\d+/.exec(sizes)?.[0])).toBeLessThanOrEqual(100_000);
    expect(await small.pty({ action: "kill", id: 1 })).toMatchObject({ status: "ok" });
    await small.close();
  });

  test("takes a long text in one go, in the order it was typed", async () => {
    await until(/ready/, start("stty -echo -icanon; echo ready; head -c 60000 | cksum", 20));
    const words = Array.from({ length: 12_000 }, (_, at) => String(at % 10_000).padStart(5, "0")).join("");
    const expected = await shell.text(`printf %s ${words} | cksum`);
    expect(await until(/ 60000\n/, type(words))).toContain(expected);
  });

  test("that does not read is not typed at for ever", async () => {
    await until(/ready/, start("stty raw -echo; echo ready; sleep 60", 20));
    let last = "";
    for (let count = 0; count < 40 && !last.includes("nothing was typed"); count++)
      last = await type("x".repeat(65_000), 0);
    expect(last).toMatch(/\[nothing was typed: it has not read the \d\.\d MiB that were typed before\]/);
  });

  test("started twenty times leaves nothing", async () => {
    for (let count = 1; count <= 20; count++) {
      await start("sh -i", 0);
      await shell.pty({ action: "kill", id: count });
    }
    expect(
      shown(await shell.job(0))
        .split("\n")
        .filter((line) => line.includes("running")),
    ).toEqual([]);
    expect(shown(await shell.job(0)).split("\n")).toHaveLength(20);
  });

  test("that is cancelled while it waits for output goes on", async () => {
    await start("cat", 0);
    const stop = new AbortController();
    const waiting = shell.pty({ action: "read", id: 1, wait: 60 }, { signal: stop.signal });
    stop.abort();
    expect(await waiting).toMatchObject({ status: "cancelled" });
    await until(/^still\nstill\n/, type("still\n"));
  });
});
