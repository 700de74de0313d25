import type { Row } from "./row.ts";

const TIMED_OUT =
  "[timed out after N s; its processes were killed and the shell is as before it; for a server use background, for long work a higher timeout]";
const after = (seconds: number): string => TIMED_OUT.replace("N", String(seconds));
const over = (seconds: number) => ({
  with: { timeout: seconds },
  status: "timed_out" as const,
  code: null,
  isLong: true,
});

/** Rows 32 to 35: commands that do not end by themselves. */
export const TIME_ROWS: Row[] = [
  {
    title: "O-EXEC-01 32 a server in the foreground is ended with its tree, its output kept, and the way out is named",
    command: "cd /tmp; echo up; ({wait}) | {wait}",
    ...over(0.3),
    text: `up\n${after(0.3)}`,
  },
  {
    title: "33 a sleeping command is ended at its limit",
    command: "{wait}",
    ...over(0.3),
    text: `(no output)\n${after(0.3)}`,
  },
  {
    title: "34 what was printed until then is returned",
    command: "for i in 1 2 3; do echo $i; done; {wait}",
    ...over(0.3),
    text: `1\n2\n3\n${after(0.3)}`,
  },
  {
    title: "35 a command that ignores TERM is killed",
    command: "trap '' TERM INT HUP; echo deaf; while :; do {wait}; done",
    ...over(0.3),
    text: `deaf\n${after(0.3)}`,
  },
  {
    title: "35 a TERM handler gets its time",
    command: "trap 'echo bye; exit 5' TERM; echo up; {wait} & wait",
    ...over(0.3),
    text: `up\nbye\n${after(0.3)}`,
  },
  { title: "35 a stopped shell is ended", command: "echo up; kill -STOP $$", ...over(0.3), text: `up\n${after(0.3)}` },
  {
    title: "35 a loop that never waits is ended",
    command: "echo up; while :; do :; done",
    ...over(0.3),
    text: `up\n${after(0.3)}`,
  },
  {
    title: "O-EXEC-01 35 what a command left in the background ends with it",
    command: "echo start; ({wait}; echo >late) & (({wait}) &); {wait}",
    ...over(0.3),
    text: `start\n${after(0.3)}`,
  },
];

/** What `timeout` may be. */
export const TIMEOUT_ROWS: Row[] = [
  ...[0, -1, 1e12, 3601, "abc"].map(
    (timeout): Row => ({
      title: `O-SHELL-05 a timeout of ${JSON.stringify(timeout)} is refused, and nothing runs`,
      command: "echo ran >ran",
      with: { timeout },
      status: "invalid",
      code: null,
      text: /^Not run: invalid arguments\.\ntimeout: .*\nReceived: /,
      tidy: "[ ! -e ran ] || exit 9",
    }),
  ),
  { title: 'O-SHELL-05 a timeout of "30" is 30 seconds', command: "echo ok", with: { timeout: "30" }, text: "ok\n" },
  { title: "O-SHELL-05 a timeout of null is the default", command: "echo ok", with: { timeout: null }, text: "ok\n" },
  {
    title: "O-SHELL-05 a timeout of half a second is one",
    command: "echo up; {wait}",
    ...over(0.5),
    text: `up\n${after(0.5)}`,
  },
  {
    title: "O-SHELL-05 the longest timeout is no short one",
    command: "echo ok",
    with: { timeout: 3600 },
    text: "ok\n",
  },
];

const BOMBED = /\[too many processes: the container's limit was reached and a process could not start\]/;

/** Row 22 and the fork bomb, for a container of little memory and few processes. */
export const SCARCE_ROWS: Row[] = [
  {
    title: "22 a shell that ran out of memory is told apart from one that was killed",
    command: "x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done",
    code: 137,
    limits: ["memory"],
    text: /\[out of memory: the container's limit was reached and the kernel killed one process\]\n\[the shell was killed by SIGKILL \(exit code 137\)\]$/,
  },
  {
    title: "22 a shell that was killed did not run out of anything",
    command: "kill -9 $$",
    code: 137,
    text: /^(?![\s\S]*(out of memory|too many processes))[\s\S]*\[the shell was killed by SIGKILL \(exit code 137\)\]$/,
  },
  {
    title: "22 a child that ran out of memory is told apart too",
    command: "(x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done); exit 3",
    code: 3,
    limits: ["memory"],
    text: /\[out of memory: the container's limit was reached and the kernel killed one process\]\n\[exit code 3\]$/,
  },
  {
    title: "22 a fork bomb up to the limit on processes is told, and ended at its time",
    command: "bomb() { bomb | bomb & }; bomb 2>/dev/null & while :; do :; done",
    ...over(1),
    isLong: false,
    text: BOMBED,
    limits: ["processes"],
  },
  {
    title: "22 a fork bomb left behind leaves room for the next command",
    command:
      "bomb() { bomb | bomb; }; (bomb &) 2>/dev/null; i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; echo front",
    text: BOMBED,
    limits: ["processes"],
    goesOn: true,
    isInTheWay: true,
  },
];
