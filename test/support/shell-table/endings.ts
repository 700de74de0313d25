// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is shell text
import type { Row } from "./row.ts";

// There `trap` also shows the one that saves.
const OFF = "case $- in *x*) echo on;; *) echo off;; esac";
const UNSAVED = "[the shell ended without saving its state: directory and variables are as before this command]";

// There it takes the place of the one that saves, which is documented and said.
const BYE_UNSAVED = `hi\nbye\n${UNSAVED}\n[exit code 4]`;

/** Rows 12 to 21: what ends a shell, and what a command does to the shell it runs in. */
export const ENDING_ROWS: Row[] = [
  {
    title: "O-SHELL-02 12 exit ends with its code and keeps the rest",
    command: "cd /tmp; exit 3; echo no",
    code: 3,
    text: "(no output)\n[exit code 3]",
    leavesIn: "/tmp",
  },
  {
    title: "O-SHELL-02 12 exit in a list is an exit",
    command: "exit 42 || true",
    code: 42,
    text: "(no output)\n[exit code 42]",
  },
  {
    title: "O-EXEC-03 12 an exit code above 128 is named",
    command: "exit 139",
    code: 139,
    text: "(no output)\n[exit code 139, which is 128 + SIGSEGV]",
  },
  {
    title: "O-SHELL-02 13 exec gives the program's exit code, and the state before it",
    command: "cd /tmp; exec {name} -c 'exit 5'",
    code: 5,
    text: `(no output)\n${UNSAVED}\n[exit code 5]`,
  },
  {
    title: "O-SHELL-02 13 exec of a shell finds an empty stdin",
    command: "exec {name}",
    text: `(no output)\n${UNSAVED}`,
  },
  {
    title: "13 exec of what is not there fails like any command",
    command: "exec no-such-program",
    code: 127,
    text: /^(bash: line 1: exec: no-such-program: not found|sh: (1: exec|exec: line 1): no-such-program: not found)\n\[exit code 127\]$/,
  },
  {
    title: "O-SHELL-02 14 set -e ends the command, not the next",
    command: "set -e; false; echo no",
    code: 1,
    text: "(no output)\n[exit code 1]",
    on: { sh: { command: "set -e; ! :; (exit 1); echo no" } },
  },
  { title: "14 set -e is not carried", command: "case $- in *e*) echo on;; *) echo off;; esac", text: "off\n" },
  {
    title: "15 an unbound variable is an error of that command",
    command: "set -u; echo $nope; echo no",
    code: 1,
    text: "bash: line 1: nope: unbound variable\n[exit code 1]",
    on: {
      busybox: { code: 2, text: "sh: line 1: nope: parameter not set\n[exit code 2]" },
      sh: { code: 2, text: "sh: 1: nope: parameter not set\n[exit code 2]" },
    },
  },
  { title: "15 set -u is not carried", command: "echo [$nope]", text: "[]\n" },
  { title: "16 a trace shows the command and nothing of ours", command: "set -x; echo hi", text: "+ echo hi\nhi\n" },
  { title: "16 a verbose shell shows nothing of ours", command: "set -v\necho hi\n", text: "echo hi\nhi\n" },
  {
    title: "16 a trace and an exit show nothing of ours",
    command: "set -x\nexit 6",
    code: 6,
    text: "+ exit 6\n[exit code 6]",
  },
  {
    title: "16 DEBUG and ERR traps see the command only",
    command: "trap 'echo D' DEBUG; trap 'echo E' ERR; (exit 3)\ntrap - DEBUG",
    text: "D\nD\nE\nD\n",
    on: {
      busybox: { command: "trap 'echo D' DEBUG; echo on", text: /DEBUG.*\non\n$/ },
      sh: { command: "trap 'echo D' DEBUG; echo on", text: "trap: DEBUG: bad trap\non\n" },
    },
  },
  {
    title: "16 traces and traps are not carried",
    command: "trap; case $- in *x*) echo on;; *) echo off;; esac",
    text: "off\n",
    on: { busybox: { command: OFF }, sh: { command: OFF } },
  },
  { title: "17 set -n runs nothing from there on", command: "set -n\necho no", text: /^\(no output\)\n/ },
  {
    title: "17 extdebug and posix mode are not carried",
    command: "shopt -s extdebug; set -o posix; echo on",
    text: "on\n",
    on: {
      busybox: { command: "set -o noglob; echo *", text: "*\n" },
      sh: { command: "set -o noglob; echo *", text: "*\n" },
    },
  },
  {
    title: "17 options are as at the start",
    command: "echo $-",
    text: "hB\n",
    on: { busybox: { text: "\n" }, sh: { text: "\n" } },
  },
  {
    title: "18 an EXIT trap runs at the end",
    command: "cd /tmp; trap 'echo bye' EXIT; echo hi",
    text: "hi\nbye\n",
    leavesIn: "/tmp",
  },
  {
    title: "18 an EXIT trap runs at an exit",
    command: "trap 'echo bye' EXIT; echo hi; exit 4",
    code: 4,
    text: "hi\nbye\n[exit code 4]",
    on: { busybox: { text: BYE_UNSAVED }, sh: { text: BYE_UNSAVED } },
  },
  { title: "18 an EXIT trap is not carried", command: "echo none", text: "none\n" },
  {
    title: "19 prompts mean nothing",
    command: "PS1='$(echo no)'; PS2=no; PS4=; PROMPT_COMMAND='echo no'; readonly PS1; echo yes",
    text: "yes\n",
  },
  {
    title: "20 output like a marker, an end or a notice of ours is output",
    command: "echo '[exit code 3]'; echo '[timed out after 3 s]'; echo __GLOVEBOX_END__ 0; echo; echo '[job runs]'",
    text: "[exit code 3]\n[timed out after 3 s]\n__GLOVEBOX_END__ 0\n\n[job runs]\n",
  },
  {
    title: "20 output like a frame of the channel is output",
    command: 'printf \'\\000\\000\\000\\020\\001\\000\\000\\000\\001{"type":"bye","left":0}\\n\'',
    text: "(no output)\n[binary output, 33 bytes; all of it is in /run/glovebox/outputs/N.txt]",
  },
  {
    title: "O-SHELL-02 O-EXEC-03 21 a killed shell is told, and its state is as before",
    command: "cd /tmp; echo part; kill -9 $$; echo no",
    code: 137,
    text: `part\n${UNSAVED}\n[the shell was killed by SIGKILL (exit code 137)]`,
  },
  {
    title: "O-EXEC-03 21 a terminated shell is no success",
    command: "kill -TERM $$; echo no",
    code: 143,
    text: /^\(no output\)\n(\[the shell ended .*\]\n)?\[the shell was killed by SIGTERM \(exit code 143\)\]$/,
  },
  {
    title: "O-EXEC-03 21 a child that a signal ended is named by it",
    command: "{name} -c 'kill -9 $$'\nexit $?",
    code: 137,
    text: /Killed.*\n\[exit code 137, which is 128 \+ SIGKILL\]$/,
  },
];
