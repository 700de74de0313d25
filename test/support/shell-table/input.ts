import type { Row } from "./row.ts";

const ASKED =
  "[it asked a question and found the end of the input, since commands have no stdin: answer by an option of the program, such as -y, or by a pipe into it]";

/** Rows 36 to 39: programs that wait for somebody. */
export const INPUT_ROWS: Row[] = [
  { title: "O-SHELL-04 36 read finds the end at once", command: "read x; echo $? got:$x", text: "1 got:\n" },
  {
    title: "O-SHELL-04 36 cat finds the end at once",
    command: "cat; echo $?",
    text: "0\n",
    on: { sh: { command: "while read -r x; do echo $x; done; echo $?", text: "0\n" } },
  },
  {
    title: "O-SHELL-04 36 a program with a heredoc of its own reads that alone",
    command: "{name} <<'E'\necho hi\nE\nread y; echo [$y]",
    text: "hi\n[]\n",
  },
  {
    title: "O-SHELL-04 36 python's input finds the end and the way out is named",
    command: "python3 -c 'input(\"name: \")'",
    code: 1,
    text: /^name: Traceback[\s\S]*EOFError: EOF when reading a line\n\[it asked a question and found the end of the input, .* -y, .*\]\n\[exit code 1\]$/,
    on: {
      busybox: { code: 127, text: "{line 1}: python3: {none}\n[exit code 127]" },
      sh: { code: 127, text: "{line 1}: python3: {none}\n[exit code 127]" },
    },
  },
  {
    title: "37 there is no terminal to ask for a password",
    command: "read x </dev/tty; echo got:$x >/dev/tty",
    code: 1,
    text: "bash: line 1: /dev/tty: No such device or address\nbash: line 1: /dev/tty: No such device or address\n[exit code 1]",
    on: {
      busybox: {
        text: "sh: line 1: can't open /dev/tty: No such device or address\nsh: line 1: can't create /dev/tty: No such device or address\n[exit code 1]",
      },
      sh: {
        code: 2,
        text: "sh: 1: cannot open /dev/tty: No such device or address\nsh: 1: cannot create /dev/tty: No such device or address\n[exit code 2]",
      },
    },
  },
  {
    title: "37 a program that asks for a password fails at once",
    command: "ssh-keygen -y -f key 2>&1; su - 2>&1; echo over",
    text: /over\n$/,
    on: {
      busybox: { command: "su -; echo over" },
      sh: { command: "su -; echo over", text: "sh: 1: su: not found\nover\n" },
    },
  },
  {
    title: "38 git commit without a message aborts and less, python and an editor end",
    command:
      "cd $(mktemp -d); git init -q .; git -c user.name=x -c user.email=x@x commit -q --allow-empty; seq 3 | less; python3; echo $GIT_EDITOR $PAGER $GIT_TERMINAL_PROMPT $DEBIAN_FRONTEND $TERM; cd {root}/kept",
    text: "Aborting commit due to empty commit message.\n1\n2\n3\ntrue cat 0 noninteractive dumb\n",
    on: {
      busybox: {
        command: "seq 3 | less; ed /dev/null; vi f </dev/null >/dev/null 2>&1; {name}; echo $GIT_EDITOR $PAGER $TERM",
        text: /^1\n2\n3\n[\s\S]*true cat dumb\n$/,
      },
      sh: { command: "less; {name}; echo $GIT_EDITOR $PAGER $TERM", text: "sh: 1: less: not found\ntrue cat dumb\n" },
    },
  },
  {
    title: "39 a question that finds the end of the input aborts, and -y is named",
    command: "printf 'Do you want to continue? [Y/n] '; read x || { echo Abort.; exit 1; }",
    code: 1,
    text: `Do you want to continue? [Y/n] Abort.\n${ASKED}\n[exit code 1]`,
  },
  {
    title: "39 a question that is the last thing printed is told also of a success",
    command: ">f; chmod 444 f; printf 'rm: remove file f? '; read x; [ -e f ]",
    text: `rm: remove file f? \n${ASKED}`,
    on: { sh: { command: "printf 'rm: remove file f? '; read x; :" } },
  },
  {
    title: "39 a text about such questions is no question",
    command: "echo 'apt asks: continue? [Y/n]'; echo done",
    text: "apt asks: continue? [Y/n]\ndone\n",
  },
];
