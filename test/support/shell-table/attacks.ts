import type { Row } from "./row.ts";

const NO_PKILL: Row["on"] = {
  // Debian's has no pkill.
  busybox: {
    command: "killall node toolhost gbx 2>&1; echo $?",
    text: "killall: node: no process killed\nkillall: toolhost: no process killed\nkillall: gbx: no process killed\n3\n",
  },
  sh: { text: "{line 1}: pkill: not found\n127\n" },
};

/** The list under the table: commands that turn on the shell or on what is around it. */
export const ATTACK_ROWS: Row[] = [
  {
    title: "pkill node meets nobody",
    command: "pkill node; echo $?",
    text: "1\n",
    on: NO_PKILL,
  },
  {
    title: "pkill -f toolhost meets nobody",
    command: "pkill -9 -f tool[h]ost; echo $?",
    text: "1\n",
    on: NO_PKILL,
  },
  {
    title: "closed descriptors are that command's",
    command: "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; echo on",
    text: "on\n",
  },
  { title: "closed stdin, stdout and stderr are that command's", command: "echo on; exec <&- >&- 2>&-", text: "on\n" },
  {
    title: "exec >file takes that command's output",
    command: "exec >file; echo inside; echo seen >&2",
    text: "seen\n",
  },
  { title: "exec >file is not carried, and the file is whole", command: "read -r x <file; echo $x", text: "inside\n" },
  {
    title: "a read-only PATH is not carried",
    command: "readonly PATH=/nope; echo $PATH",
    text: "/nope\n",
    tidy: "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  },
  {
    title: "an exported function named printf is the user's own matter",
    command: "printf() { :; }; export -f printf; printf x",
    text: "(no output)",
    tidy: "unset -f printf",
    on: { busybox: { command: "printf() { :; }; printf x" }, sh: { command: "printf() { :; }; printf x" } },
  },
  {
    title: "functions named like builtins do not reach ours",
    command: "cd() { echo evil; }; trap() { echo evil; }; pwd() { echo /evil; }; builtin() { echo evil; }; cd /tmp",
    text: "evil\n",
    tidy: "unset -f cd pwd",
    on: {
      busybox: {
        command: "pwd() { echo /evil; }; umask() { echo evil; }; printf() { echo evil; }; pwd",
        text: "/evil\n",
      },
      sh: { command: "pwd() { echo /evil; }; umask() { echo evil; }; printf() { echo evil; }; pwd", text: "/evil\n" },
    },
  },
  {
    title: "aliases named like builtins do not reach ours",
    command: "alias pwd='echo /evil' printf=false return=false export='echo evil'\npwd",
    text: "/evil\n",
    tidy: "\\unalias -a",
    on: { busybox: { tidy: "true" }, sh: { tidy: "true" } },
  },
  {
    title: "IFS, noglob, noclobber and posix mode are that command's",
    command: "IFS=abcdefghijklmnopqrstuvwxyz/0123456789; set -f; set -C; export POSIXLY_CORRECT=1; echo on",
    text: "on\n",
    tidy: "unset IFS POSIXLY_CORRECT",
  },
  {
    title: "a file of ours that the command removes is made again",
    command: "rm -rf /run/glovebox/run-* 2>/dev/null; echo on",
    text: /^on\n/,
  },
];

/** Rows that end the tool host; a sandbox bears five of them. */
export const FATAL_ROWS: Row[] = [
  {
    title: "kill -9 -1 costs its own call alone",
    command: "echo up; kill -9 -1; {wait}",
    status: "lost",
    code: null,
    text: /^This call ended the tool host and was lost with it; it may have had effects\./,
  },
  {
    title: "O-SHELL-02 killing the shell and what started it costs its own call alone",
    command: "echo up; kill -9 $PPID $$",
    status: "lost",
    code: null,
    text: /^This call ended the tool host and was lost with it; it may have had effects\./,
  },
];
