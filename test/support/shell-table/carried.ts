// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is shell text
import type { Row } from "./row.ts";

const NO_FILE = "{line 1}: ls: No such file or directory";

// There `trap` also shows the one that saves.
const NOT_CARRIED = 'case $- in *f*) exit 9;; esac; [ $# = 0 ] && [ -z "$ro" ] || exit 8';

/** Rows 23 to 27: what is carried from one command to the next, and what is not. */
export const CARRIED_ROWS: Row[] = [
  { title: "23 a subshell's directory is its own", command: "(cd /tmp; pwd); pwd", text: "/tmp\n{root}/kept\n" },
  { title: "23 a directory is carried", command: "cd /tmp", text: "(no output)", leavesIn: "/tmp" },
  {
    title: "23 the directory before it is carried",
    command: "cd /tmp",
    text: "(no output)",
    leavesIn: "/tmp",
    tidy: "cd - >/dev/null; [ $PWD = {root}/kept ] || exit 9",
  },
  {
    title: "23 at the start of a session cd - goes nowhere of ours",
    command: "cd - 2>&1 | { read -r x; case $x in */run/*) echo ours;; *) echo fine;; esac; }",
    text: "fine\n",
  },
  {
    title: "24 a directory that is gone gives way to the nearest that exists, and that is said",
    command: "mkdir -p a/b; cd a/b; rm -r ../../a",
    text: "(no output)",
    said: "[the directory {root}/kept/a/b is gone or closed; this command began in {root}/kept]\n",
    leavesIn: "{root}/kept",
    on: { sh: { command: "cd /proc/self; echo $PWD", text: "/proc/self\n", leavesIn: "/proc/self", said: "" } },
  },
  {
    title: "25 an exported variable is carried with quotes, newlines and blanks",
    command: 'export V=$(printf "a\'b\\n\\"c\\"  \\$d")',
    text: "(no output)",
    tidy: '[ "$V" = "a\'b\n\\"c\\"  \\$d" ] || exit 9',
  },
  {
    title: "25 functions, aliases, arrays and plain variables are carried by bash",
    command: "f() { echo f$1; }; alias ll='echo ll'; a=(1 'b c'); declare -A m=([k]=v); p=plain",
    text: "(no output)",
    tidy: "ll && f 1 && [ \"${a[1]}${m[k]}$p\" = 'b cvplain' ] || exit 9; unalias ll; unset -f f; unset a m p",
    on: {
      busybox: {
        command: "f() { echo f; }; alias ll='echo ll'; p=plain",
        tidy: '[ -z "$p" ] || exit 9; f 2>/dev/null && exit 8; true',
      },
      sh: {
        command: "f() { echo f; }; alias ll='echo ll'; p=plain",
        tidy: '[ -z "$p" ] || exit 9; f 2>/dev/null && exit 8; true',
      },
    },
  },
  {
    title: "25 options, traps, positional parameters and read-only variables are not carried",
    command: "set -f -- a b; trap 'echo int' INT; readonly ro=1",
    text: "(no output)",
    tidy: 'case $- in *f*) exit 9;; esac; [ $# = 0 ] && [ -z "$ro" ] && [ -z "$(trap)" ] || exit 8',
    on: { busybox: { tidy: NOT_CARRIED }, sh: { tidy: NOT_CARRIED } },
  },
  { title: "25 jobs are not the next command's", command: "jobs", text: "(no output)" },
  {
    title: "25 umask is carried",
    command: "umask 077",
    text: "(no output)",
    tidy: "u=$(umask); umask 022; [ $u = 0077 ] || exit 9",
  },
  {
    title: "25 an unset variable stays unset",
    command: "unset PAGER",
    text: "(no output)",
    tidy: '[ -z "${PAGER+x}" ] || exit 9; export PAGER=cat',
  },
  {
    title: "26 an empty PATH is seen by the user and by nobody else",
    command: "old=$PATH; PATH=; ls",
    code: 127,
    text: `${NO_FILE}\n[exit code 127]`,
    tidy: "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    on: {
      // It is `ls` itself.
      busybox: { command: "old=$PATH; PATH=; lss", text: "sh: line 1: lss: not found\n[exit code 127]" },
      sh: { text: "sh: 1: ls: not found\n[exit code 127]" },
    },
  },
  {
    title: "26 a HOME that is unset stays so",
    command: "unset HOME; cd; echo $?",
    text: /HOME not set\n1\n$/,
    tidy: '[ -z "${HOME+x}" ] || exit 9; export HOME=/home/glovebox',
    on: { busybox: { text: "0\n" }, sh: { text: "0\n" } },
  },
  { title: "27 a limit on memory is that command's", command: "ulimit -v 200000; ulimit -v", text: "200000\n" },
  { title: "27 a limit on memory is gone in the next", command: "ulimit -v", text: "unlimited\n" },
  {
    title: "27 a limit of zero on files costs that command its own changes",
    command: "cd /tmp; ulimit -f 0; echo on",
    text: "on\n[the shell ended without saving its state: directory and variables are as before this command]",
  },
  {
    title: "27 a limit of zero on files is gone in the next",
    command: "ulimit -f; echo x >f; read -r y <f; echo $y",
    text: "unlimited\nx\n",
  },
  { title: "27 a limit on open files is that command's", command: "ulimit -n 3; echo on", text: /^on\n/ },
];
