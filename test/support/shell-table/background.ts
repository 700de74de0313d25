import type { Row } from "./row.ts";

const LOG = "what it prints from now on goes to /run/glovebox/jobs/N/log";
const REACHED = 'read it with bash {"job": N}, end it with bash {"job": N, "kill": true}';
const GOES_ON = `[job N goes on in the background: pid N; ${LOG}; ${REACHED}]`;
const QUIET = `[job N goes on in the background: pid N; ${REACHED}]`;

/** Rows 28 to 31: what goes on after its command has ended. */
export const BACKGROUND_ROWS: Row[] = [
  {
    title: "O-SHELL-01 28 a command with & returns at once and names the job",
    command: "{wait} & echo started",
    text: `started\n${GOES_ON}`,
    goesOn: true,
  },
  {
    title: "O-SHELL-01 28 one with its output redirected holds nothing",
    command: "{wait} >/dev/null 2>&1 & echo started",
    text: `started\n${QUIET}`,
    goesOn: true,
    // A builtin keeps the output it had while it is redirected.
    on: { sh: { text: `started\n${GOES_ON}` } },
  },
  {
    title: "28 one that was asked for returns at once",
    command: "{wait}",
    with: { background: true },
    code: null,
    text: `(no output)\n[job N runs in the background: pid N, output in /run/glovebox/jobs/N/log; ${REACHED}]`,
    goesOn: true,
  },
  {
    title: "28 one that was asked for and fails at once is told with its output",
    command: "no-such-program",
    with: { background: true },
    code: 127,
    text: "{line 1}: no-such-program: {none}\n[job N ended with exit code 127 after N s; log /run/glovebox/jobs/N/log]",
  },
  {
    title: "O-SHELL-01 29 what it prints later is in no later result",
    command: "(while :; do echo noise; done) & echo front",
    text: /\[job N goes on in the background: .*, end it with bash [^\]]*\]$/,
    goesOn: true,
  },
  {
    title: "O-SHELL-01 30 a child that keeps the output open is not waited for",
    command: "({wait}; echo late) & echo front",
    text: /^front\n\[job N goes on in the background: pid N.*; what it prints .*, end it with bash [^\]]*\]$/,
    goesOn: true,
  },
  {
    title: "O-SHELL-01 30 nor is one after an exit",
    command: "({wait}; echo late) & exit 0",
    text: /^\(no output\)\n\[job N goes on in the background: .*\]$/,
    goesOn: true,
  },
  {
    title: "31 nohup and disown return, and it is found",
    command: "nohup sleep 60 >/dev/null 2>&1 & disown; echo on",
    text: `on\n${QUIET}`,
    goesOn: true,
    on: {
      busybox: { command: "(trap '' HUP; {wait}) >/dev/null 2>&1 & echo on" },
      sh: { command: "(trap '' HUP; {wait}) >/dev/null 2>&1 & echo on" },
    },
  },
  {
    title: "O-SHELL-01 31 setsid returns, and it is found",
    command: "setsid sleep 60 >/dev/null & echo on",
    text: `on\n${GOES_ON}`,
    goesOn: true,
    on: { sh: { command: "( ( {wait} ) & ) >/dev/null; echo on" } },
  },
  {
    title: "31 a coprocess returns, and it is found",
    command: "coproc sleep 60; echo on",
    text: `on\n${GOES_ON}`,
    goesOn: true,
    on: { busybox: { command: "{ sleep 60; } | : & echo on" }, sh: { command: "{ {wait}; } | : & echo on" } },
  },
];
