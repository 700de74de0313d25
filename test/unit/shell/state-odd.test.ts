// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is shell text
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestShell } from "./test-shell.ts";

let shell: TestShell;
beforeEach(() => {
  shell = new TestShell();
});
afterEach(() => shell.close());

describe("a shell keeps its state", () => {
  test("after a umask that lets nobody read what is made", async () => {
    await shell.run("kept=1; umask 777");
    expect(await shell.text("umask; umask 022; echo $kept")).toBe("0777\n1\n");
  });

  test("with functions, whose messages are those of the shell", async () => {
    await shell.run("f() { nope; cd /nope; }");
    expect(await shell.text("f")).toBe(
      "bash: nope: command not found\nbash: cd: /nope: No such file or directory\n[exit code 1]",
    );
  });

  test("with an OPTIND that is an array of text", async () => {
    await shell.run("kept=1; unset OPTIND; OPTIND=('[exit code 9]' b)");
    await shell.run("exit 7");
    expect(await shell.text("echo $kept; OPTIND=3; exit")).toBe("1\n");
    expect(await shell.text("echo $OPTIND")).toBe("3\n");
  });

  test("with a name that was unset and exported", async () => {
    await shell.run("unset PS4; export PS4");
    expect(await shell.text("declare -p PS4")).toBe("declare -x PS4\n");
  });

  test("with an IFS that is an array", async () => {
    await shell.run("f() { echo f; }; g() { echo g; }; IFS=(-n 3)");
    expect(await shell.text("f; g; declare -p IFS")).toBe('f\ng\ndeclare -a IFS=([0]="-n" [1]="3")\n');
  });

  test("with integers, cases and names whose value is not what they would make of it", async () => {
    await shell.run("kept=1; v=/a:b; declare -i v; w=UP; declare -l w; declare -ix PATH");
    expect(await shell.text("echo $kept $v $w; declare -p v w; echo ${PATH@a}")).toBe(
      '1 /a:b UP\ndeclare -i v="/a:b"\ndeclare -l w="UP"\nix\n',
    );
    expect(await shell.text("PATH=1+1; echo $PATH")).toContain("2\n");
  });

  test("with an unknown locale, of which it hears once", async () => {
    expect(await shell.text("export LC_ALL=no_such")).toContain("cannot change locale");
    expect(await shell.text("echo $LC_ALL")).toBe("no_such\n");
  });

  test("without the builtins that tell it, where they can be had again", async () => {
    await shell.run("f() { echo f; }; kept=1; enable -n builtin declare printf");
    expect(await shell.text("f; echo $kept")).toBe("f\n1\n");
  });

  test("as it was, where they cannot", async () => {
    await shell.run("kept=1");
    expect(await shell.text("kept=2; enable -n declare enable")).toContain("without saving its state");
    expect(await shell.text("echo $kept")).toBe("1\n");
  });
});

describe("nothing of one command is in the way of the next", () => {
  test("a read-only function can be replaced", async () => {
    await shell.run("f() { echo one; }; readonly -f f");
    expect(await shell.text("f; f() { echo two; }; f; unset -f f")).toBe("one\ntwo\n");
    expect(await shell.text("type -t f")).toBe("(no output)\n[exit code 1]");
  });

  test("the directory before the first is none of ours", async () => {
    await shell.run("export OLDPWD; unset OLDPWD; export OLDPWD");
    expect(await shell.text("declare -p OLDPWD; cd -")).toBe(
      "declare -x OLDPWD\nbash: line 1: cd: OLDPWD not set\n[exit code 1]",
    );
  });
});

describe("`trap` is that of bash", () => {
  test.each([
    ["trap x NOSUCH; echo $?", "bash: line 1: trap: NOSUCH: invalid signal specification\n1\n"],
    [
      "\ntrap -x",
      "bash: line 2: trap: -x: invalid option\ntrap: usage: trap [-lp] [[arg] signal_spec ...]\n[exit code 2]",
    ],
    ["trap nosuch", "trap: usage: trap [-lp] [[arg] signal_spec ...]\n[exit code 2]"],
    ["trap 'echo back' RETURN; echo set; . /dev/null", "set\nback\n"],
    ["(trap 'echo back' RETURN; echo set; . /dev/null)", "set\nback\n"],
    ["trap 'echo each' DEBUG; true", "each\n"],
    ["(trap 'echo out' EXIT; trap -p EXIT)", "trap -- 'echo out' EXIT\nout\n"],
    ["(trap -p EXIT); builtin trap; command trap", "(no output)"],
    ["trap INT; trap '' USR1; trap EXIT; trap -p", "trap -- '' SIGUSR1\n"],
    [
      "set() { echo mine; }; shift() { set; }; return() { set; }; break() { set; }; trap 'echo bye' EXIT; trap -p INT",
      "bye\n",
    ],
    ["local() { echo mine; }; printf() { echo mine; }; trap 'echo bye' EXIT", "bye\n"],
  ])("%j", async (command, wanted) => {
    expect(await shell.text(command)).toBe(wanted);
    expect(await shell.text("trap; echo next")).toBe("next\n");
  });

  test("`set -v` shows the text and nothing of ours", async () => {
    expect(await shell.text("set -v\necho one")).toBe("echo one\none\n");
  });
});
