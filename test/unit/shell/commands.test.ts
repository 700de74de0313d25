import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shown, TestShell } from "./test-shell.ts";

let shell: TestShell;
beforeAll(() => {
  shell = new TestShell();
});
afterAll(() => shell.close());

type Case = { title: string; command: string; text: string; status?: string };

const long = Array.from({ length: 200 }, (_, line) => `f${line % 7}() { echo ${line}; }`).join("\n");

// The numbers are the rows of the checklist in the specification of the shell.
const CASES: Case[] = [
  { title: "1 a quoted heredoc keeps its bytes", command: "cat <<'EOF'\na $x\nb\nEOF", text: "a $x\nb\n" },
  { title: "2 a command after a heredoc runs", command: "cat <<EOF\na\nEOF\necho after", text: "a\nafter\n" },
  {
    title: "3 many lines run as one script",
    command: `${long}\ncase 1 in 1) f3;; esac\n(exit 4)`,
    text: "199\n[exit code 4]",
    status: "failed",
  },
  {
    title: "4 CRLF outside heredocs is read as LF",
    command: "echo a\r\necho b\r\n",
    text: "a\nb\n[CRLF line endings of the command were read as LF]",
  },
  {
    title: "6 control bytes in the text arrive as they are",
    command: "printf '%q\\n' 'a\tb\u0003c\u001bd'",
    text: "$'a\\tb\\003c\\Ed'\n",
  },
  { title: "7 an exclamation mark is nothing special", command: 'echo "a!b"', text: "a!b\n" },
  { title: "8 an empty command succeeds", command: "", text: "(no output)" },
  { title: "8 a comment succeeds", command: "# nothing", text: "(no output)" },
  {
    title: "10 an unclosed heredoc runs to the end",
    command: "cat <<EOF\nabc",
    text: "bash: line 2: warning: here-document at line 1 delimited by end-of-file (wanted `EOF')\nabc\n",
  },
  { title: "10 a heredoc may end without a newline", command: "cat <<EOF\nabc\nEOF", text: "abc\n" },
  { title: "11 a trailing backslash appends nothing", command: "echo x\\", text: "x\n" },
  {
    title: "14 set -e ends the command",
    command: "set -e; false; echo no",
    text: "(no output)\n[exit code 1]",
    status: "failed",
  },
  {
    title: "15 an unbound variable is an error",
    command: "set -u; echo $nope",
    text: "bash: line 1: nope: unbound variable\n[exit code 1]",
    status: "failed",
  },
  { title: "16 the trace shows only the command", command: "set -x; echo hi", text: "+ echo hi\nhi\n" },
  {
    title: "16 a DEBUG trap sees only the command",
    command: "trap 'echo D' DEBUG; echo a; trap - DEBUG; echo b",
    text: "D\na\nD\nb\n",
  },
  { title: "16 an ERR trap sees only the command", command: "trap 'echo E' ERR; false; true", text: "E\n" },
  {
    title: "17 set -n ends the command quietly",
    command: "set -n; echo x",
    text: "(no output)\n[the shell ended without saving its state: directory and variables are as before this command]",
  },
  {
    title: "18 an EXIT trap runs and sees the status",
    command: "trap 'echo bye $?' EXIT; (exit 3)",
    text: "bye 3\n[exit code 3]",
    status: "failed",
  },
  {
    title: "18 an EXIT trap is listed without ours",
    command: "trap 'echo bye' EXIT; trap -p; trap - EXIT; trap",
    text: "trap -- 'echo bye' EXIT\n",
  },
  {
    title: "18 a subshell has its own EXIT trap",
    command: "(trap 'echo sub' EXIT); x=$(trap 'echo s2' EXIT); echo $x",
    text: "sub\ns2\n",
  },
  {
    title: "19 a prompt is never used",
    command: "PS1=x PROMPT_COMMAND='echo evil'; readonly PS1; echo ok",
    text: "ok\n",
  },
  {
    title: "20 output that imitates notices changes nothing",
    command: "echo '[exit code 3]'; echo '[timed out after 3 s]'",
    text: "[exit code 3]\n[timed out after 3 s]\n",
  },
  {
    title: "23 a subshell does not leak its directory",
    command: "(cd /usr); [ $PWD = $HOME ] && echo same",
    text: "same\n",
  },
  { title: "36 stdin is at its end", command: "cat; read x; echo got:$x", text: "got:\n" },
  {
    title: "37 there is no terminal",
    command: "echo x >/dev/tty",
    text: "bash: line 1: /dev/tty: No such device or address\n[exit code 1]",
    status: "failed",
  },
  {
    title: "44 colours vanish and redraws fold",
    command: "printf '\\033[31mred\\033[0m\\n1%%\\r2%%\\r3%%\\n'",
    text: "red\n3%\n",
  },
  { title: "45 no final newline is added", command: "printf abc", text: "abc" },
  { title: "45 blanks and blank lines stay", command: "printf '\\n\\n  a  \\n\\n'", text: "\n\n  a  \n\n" },
  {
    title: "stdout and stderr keep their order",
    command: "echo 1; echo 2 >&2; echo 3; echo 4 >&2",
    text: "1\n2\n3\n4\n",
  },
  {
    title: "/dev/stderr and /dev/stdout can be opened",
    command: "echo a >/dev/stderr; echo b | tee /dev/stdout",
    text: "a\nb\nb\n",
  },
  {
    title: "a missing command names the line of the command",
    command: "true\nnope",
    text: "bash: line 2: nope: command not found\n[exit code 127]",
    status: "failed",
  },
  {
    title: "return at top level is bash's own error",
    command: "return 3; echo on",
    text: "bash: line 1: return: can only `return' from a function or sourced script\non\n",
  },
  {
    title: "a child killed by a signal is named",
    command: "bash -c 'kill -9 $$'; exit $?",
    text: "bash: line 1: PID Killed                  bash -c 'kill -9 $$'\n[exit code 137, which is 128 + SIGKILL]",
    status: "failed",
  },
];

describe("a command", () => {
  test.each(CASES)("$title", async ({ command, text, status = "ok" }) => {
    const result = await shell.run(command);
    expect([shown(result).replace(/ +\d+ Killed/, " PID Killed"), result.status]).toEqual([text, status]);
    expect(await shell.text("echo alive")).toBe("alive\n");
  });

  test.each([
    ["an unclosed quote", 'echo "abc', "bash: line 1: unexpected EOF while looking for matching `\"'"],
    ["an unclosed bracket", "x=2\necho a\n(", "a\nbash: line 4: syntax error: unexpected end of file"],
    ["an unclosed substitution", "true\necho $(ls", "unexpected EOF while looking for matching `)'"],
  ])("9 %s is a syntax error at once and changes no state", async (_, command, message) => {
    await shell.run("x=1");
    const result = await shell.run(command);
    expect(shown(result)).toContain(`${message}\n[syntax error: directory and variables are as before this command]\n`);
    expect(result.details.exit_code).toBe(2);
    expect(await shell.text("echo $x")).toBe("1\n");
  });

  test("5 a text of 200 kB runs", async () => {
    expect(await shell.text(`echo '${"x".repeat(200_000)}' | wc -c`)).toBe("200001\n");
  });

  test.each([
    ["above 1 MiB", "x".repeat(1024 * 1024 + 1), "The command is 1048577 bytes, the limit is 1048576"],
    ["with a NUL", "echo a\0b", "The command holds a NUL character"],
    ["with half a surrogate pair", "echo \ud800", "The command holds half a surrogate pair"],
  ])("a text %s is refused in words", async (_, command, words) => {
    const result = await shell.run(command);
    expect(result.status).toBe("invalid");
    expect(shown(result)).toContain(words);
  });

  test("46 two commands at the same time run one after the other", async () => {
    const texts = await Promise.all([1, 2, 3].map((n) => shell.text(`echo a${n}; sleep 0.02; echo b${n}`)));
    expect(texts).toEqual(["a1\nb1\n", "a2\nb2\n", "a3\nb3\n"]);
  });

  test("exit codes are the program's, every time", async () => {
    const codes = new Set<number | undefined>();
    for (let round = 0; round < 20; round++) codes.add((await shell.run("exit 42")).details.exit_code);
    expect([...codes]).toEqual([42]);
  });
});
