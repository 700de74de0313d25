import type { Row } from "./row.ts";

/** A line said `$1` times, for an image without a program that could. */
const SAY = 'say() { i=0; while [ $i -lt $1 ]; do echo "$2"; i=$((i+1)); done; }';
const WHERE = "all of it is in /run/glovebox/outputs/N.txt";

/** Rows 40 to 45: what a command prints. */
export const OUTPUT_ROWS: Row[] = [
  {
    title: "O-OUT-03 40 of a million lines the last 2,000 are shown, the rest is counted and kept",
    command: "seq 1 1000000",
    text: new RegExp(
      `^998001\\n[\\s\\S]*\\n1000000\\n\\[output cut: shown are the last 2000 of 1000000 lines, 13.7 KiB of 6.6 MiB; ${WHERE}\\]$`,
    ),
    on: {
      sh: {
        command: `${SAY}; say 5000 line`,
        text: new RegExp(
          `^(line\\n){2000}\\[output cut: shown are the last 2000 of 5000 lines, 9.8 KiB of 24.4 KiB; ${WHERE}\\]$`,
        ),
      },
    },
  },
  {
    title: "O-OUT-03 40 what stderr says last is shown after any bulk on stdout",
    command: `${SAY}; say 3000 bulk; echo the end >&2`,
    text: /^(bulk\n){1999}the end\n\[output cut: shown are the last 2000 of 3001 lines, .*\]$/,
  },
  {
    title: "O-OUT-02 41 endless output is drained until the limit, head and tail kept",
    command: "yes",
    with: { timeout: 0.4 },
    status: "timed_out",
    code: null,
    isLong: true,
    text: /^(y\n){2000}\[output cut: shown are the last 2000 of \d+ lines, 3.9 KiB of [^;]* [KM]iB; (all of it is|its beginning and end are) in .*\]\n\[timed out after 0.4 s; .*\]$/,
    on: { sh: { command: "while :; do echo y; done" } },
  },
  {
    title: "O-EXEC-02 O-OUT-01 42 one line of 5 MB is cut inside, at a character",
    command: "yes '€uro-ß-漢字' | head -n 250000 | tr -d '\\n'",
    text: /^(€|uro-|ß-|漢|字|€?uro-ß-漢字){100,}\n\[output cut: shown are the last 1 of 1 line, its beginning cut, .*\]$/,
    on: {
      sh: {
        command:
          'x=€uro-ß-漢字; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do x=$x$x; done; printf %s "$x"',
      },
    },
  },
  {
    title: "O-OUT-04 43 binary output is kept and named",
    command: "printf '\\177ELF\\000\\001\\002\\003\\377\\376\\375'",
    text: `(no output)\n[binary output, 11 bytes (ELF program or library); ${WHERE}]`,
  },
  {
    title: "O-OUT-04 43 a NUL and invalid UTF-8 do not cut the rest",
    command: "printf 'text text text text a\\000b\\377\\n'; echo rest",
    text: `text text text text a\\x00b\ufffd\nrest\n[binary output, 30 bytes; ${WHERE}]`,
  },
  {
    title: "O-OUT-04 44 colours, cursor moves, clearing and the other screen vanish",
    command:
      "printf '\\033[31mred\\033[0m\\n\\033[?1049h\\033[2J\\033[Hx\\033[?1049l\\n\\033]0;title\\007y\\n\\033]8;;http://x\\033\\\\link\\033]8;;\\033\\\\\\n'",
    text: "red\nx\ny\nlink\n",
  },
  {
    title: "O-OUT-04 44 redraws are folded to the last state",
    command: "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); printf '\\r%d%%' $i; done; printf '\\ndone\\n'",
    text: "5000%\ndone\n",
  },
  { title: "45 no newline is added", command: "printf abc", text: "abc" },
  { title: "45 blanks, tabs and blank lines stay", command: "printf '\\n\\n \\ta  \\n\\n'", text: "\n\n \ta  \n\n" },
  {
    title: "45 stdout and stderr keep their order",
    command: "echo 1; echo 2 >&2; echo 3; echo 4 >&2",
    text: "1\n2\n3\n4\n",
  },
  {
    title: "45 /dev/stdout and /dev/stderr can be opened",
    command: "echo a >/dev/stderr; echo b >/dev/stdout",
    text: "a\nb\n",
  },
  {
    title: "O-OUT-01 a line of 300 kB is cut at a character, its end shown",
    command: 'x=🚀🚀🚀🚀🚀; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do x=$x$x; done; echo "a$x"',
    text: /^(🚀)+\n\[output cut: shown are the last 1 of 1 line, its beginning cut, 50.0 KiB of 320.0 KiB; .*\]$/,
  },
  {
    title: "O-EXEC-02 3 MB of characters that chunks cut in two are whole",
    command: "yes '€uro-ß-漢字' | head -n 160000",
    text: /^(€uro-ß-漢字\n){2000}\[output cut: .*\]$/,
    on: { sh: { command: `${SAY}; say 20000 €uro-ß-漢字` } },
  },
  {
    title: "O-OUT-02 1 GB is counted, and its head and tail are kept",
    command: "echo first; head -c 1000000000 /dev/zero | tr '\\0' x; echo; echo last",
    only: "base",
    text: /^last\n\[output cut: shown are the last 1 of 3 lines, 5 bytes of 953.7 MiB; its beginning and end are in .*\]$/,
  },
];
