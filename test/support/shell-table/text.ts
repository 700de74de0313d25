// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is shell text
import type { Row } from "./row.ts";

const ECHO_LINES = 'while IFS= read -r line; do echo "$line"; done';
const MANY = Array.from({ length: 200 }, (_, line) => `f${line % 7}() { echo ${line}; }`).join("\n");
const SYNTAX = "[syntax error: directory and variables are as before this command]\n[exit code 2]";

/** Rows 1 to 11: how the text of a command reaches the shell. */
export const TEXT_ROWS: Row[] = [
  {
    title: "1 a quoted heredoc is its exact bytes",
    command: "cat <<'EOF'\na $x `y`\nb\\\nEOF",
    text: "a $x `y`\nb\\\n",
    on: { sh: { command: `${ECHO_LINES} <<'EOF'\na $x \`y\`\nb\\\nEOF`, text: "a $x `y`\nb\\\n" } },
  },
  {
    title: "2 a command after a heredoc runs, in order",
    command: `${ECHO_LINES} <<EOF\na\nEOF\necho after`,
    text: "a\nafter\n",
  },
  {
    title: "2 a program that the image has not says so and the rest runs",
    command: "no-such-program <<EOF\na\nEOF\necho after",
    text: "{line 1}: no-such-program: {none}\nafter\n",
  },
  {
    title: "3 many lines, functions, case and loops are one script with the last exit code",
    command: `${MANY}\nfor i in 1 2; do case $i in 2) f3;; esac; done\n(exit 4)`,
    code: 4,
    text: "199\n[exit code 4]",
  },
  {
    title: "4 CRLF is read as LF outside a heredoc only, and said",
    command: `echo a\r\n${ECHO_LINES} <<EOF\r\nb\r\nEOF\r\n`,
    text: "a\nb\r\n[CRLF line endings of the command were read as LF]",
  },
  {
    title: "O-EXEC-05 5 a text of 200 kB runs",
    command: `: '${"x".repeat(200_000)}'\necho whole`,
    text: "whole\n",
  },
  {
    title: "5 a text above 1 MiB is refused with the limit",
    command: `: '${"x".repeat(1024 * 1024)}'`,
    status: "invalid",
    code: null,
    text: "The command is 1048580 bytes, the limit is 1048576; put data into a file with write",
  },
  {
    title: "6 tab, Ctrl-C and ESC in the text arrive as they are",
    command: "x='a\tb\u0003c\u001bd'; [ ${#x} = 7 ] && echo seven",
    text: "seven\n",
  },
  {
    title: "6 a NUL in the text is refused in words",
    command: "echo a\0b",
    status: "invalid",
    code: null,
    text: "The command holds a NUL character, which no shell can read; write it as $'\\x00' or with printf",
  },
  { title: "7 an exclamation mark is no history", command: 'echo "a!b" !!', text: "a!b !!\n" },
  { title: "8 an empty command succeeds", command: "", text: "(no output)" },
  { title: "8 blanks succeed", command: " \n\t\n", text: "(no output)" },
  { title: "8 a comment succeeds", command: "# nothing", text: "(no output)" },
  {
    title: "O-SHELL-03 9 an unclosed quote is a syntax error at once",
    command: 'true\necho "abc',
    code: 2,
    text: `bash: line 2: unexpected EOF while looking for matching \`"'\n${SYNTAX}`,
    on: {
      busybox: { text: `sh: line 2: syntax error: unterminated quoted string\n${SYNTAX}` },
      sh: { text: `sh: 2: Syntax error: Unterminated quoted string\n${SYNTAX}` },
    },
  },
  {
    title: "O-SHELL-03 9 an unclosed paren is a syntax error at once, the lines before it have run",
    command: "export KEPT=changed\necho a\n(echo b",
    code: 2,
    text: `a\nbash: line 4: syntax error: unexpected end of file\n${SYNTAX}`,
    on: {
      busybox: { text: `a\nsh: line 3: syntax error: unexpected end of file (expecting ")")\n${SYNTAX}` },
      sh: { text: `a\nsh: 3: Syntax error: end of file unexpected (expecting ")")\n${SYNTAX}` },
    },
  },
  {
    title: "O-SHELL-03 9 an unclosed substitution is a syntax error at once",
    command: "true\necho $(echo",
    code: 2,
    text: `bash: line 3: unexpected EOF while looking for matching \`)'\n${SYNTAX}`,
    on: {
      busybox: { text: `sh: line 2: syntax error: unexpected end of file (expecting ")")\n${SYNTAX}` },
      sh: { text: `sh: 2: Syntax error: end of file unexpected (expecting ")")\n${SYNTAX}` },
    },
  },
  {
    title: "O-SHELL-03 10 an unclosed heredoc runs to its end",
    command: `${ECHO_LINES} <<'EOF'\nabc\n  EOF`,
    text: "bash: line 3: warning: here-document at line 1 delimited by end-of-file (wanted `EOF')\nabc\n  EOF\n",
    on: { busybox: { text: "abc\n" }, sh: { text: "abc\n" } },
  },
  {
    title: "O-SHELL-03 10 a heredoc may end without a newline",
    command: `${ECHO_LINES} <<'EOF'\nabc\nEOF`,
    text: "abc\n",
  },
  {
    title: "11 a trailing backslash appends nothing",
    command: "echo x\\",
    text: "x\n",
    on: { busybox: { text: "x\\\n" }, sh: { text: "x\\\n" } },
  },
];
