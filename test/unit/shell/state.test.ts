// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is shell text
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shown, TestShell } from "./test-shell.ts";

let shell: TestShell;
beforeAll(() => {
  shell = new TestShell();
});
afterAll(() => shell.close());

/** What `probe` prints after `command` has run as a call of its own. */
async function carried(command: string, probe: string): Promise<string> {
  await shell.run(command);
  return shell.text(probe);
}

describe("the shell's state", () => {
  test("a command begins with exactly the given environment", async () => {
    const fresh = new TestShell({ env: { PATH: "/usr/bin:/bin", ODD: "a'b\nc é" } });
    const names = (await fresh.text("env -0 | tr '\\n\\0' ' \\n' | sort")).split("\n");
    expect(names.sort()).toEqual(
      ["ODD=a'b c é", "PATH=/usr/bin:/bin", `PWD=${fresh.folder}`, "SHLVL=1", "_=/usr/bin/env", ""].sort(),
    );
    await fresh.close();
  });

  test.each([
    ["directory", "cd /usr", "pwd; cd", "/usr\n"],
    ["exported variable", "export A='x  y'", "bash -c 'echo \"$A\"'", "x  y\n"],
    ["plain variable", "b=1", "echo $b; bash -c 'echo [$b]'", "1\n[]\n"],
    ["array", "c=(1 'b c' [7]=d)", 'echo ${!c[@]} "${c[1]}"', "0 1 7 b c\n"],
    ["associative array", "declare -A m=(['a b']=1)", "echo ${m['a b']}", "1\n"],
    ["integer", "declare -i n=4", "n+=3; echo $n", "7\n"],
    [
      "value with quotes, newlines and other bytes",
      "v=$'q\"\\'$(x)\\n\\xff`y`\\n'",
      "printf '%q\\n' \"$v\"",
      "$'q\"\\'$(x)\\n\\377`y`\\n'\n",
    ],
    ["value that looks like a declaration", "v=$'a\\ndeclare -x EVIL=1'", "echo [$EVIL] \"${v%%$'\\n'*}\"", "[] a\n"],
    ["function", "f() { cat <<E\nhi $1\nE\n}", "f you", "hi you\n"],
    ["exported function", "g() { echo g; }; export -f g", "bash -c g", "g\n"],
    ["function of a builtin's name", 'cd() { builtin cd "$@" && echo moved; }', "cd .; unset -f cd", "moved\n"],
    ["alias", "alias ll='echo alias'", "ll", "alias\n"],
    ["umask", "umask 077", "umask; umask 022", "0077\n"],
    ["unset variable", "unset TERM LANG", "echo [$TERM] [$LANG]", "[] []\n"],
    ["changed IFS", "IFS=:", "x=a:b; echo $x; unset IFS", "a b\n"],
  ])("25 a %s is carried", async (_, command, probe, text) => {
    expect(await carried(command, probe)).toBe(text);
  });

  test.each([
    ["options", "set -eux", "echo $- ${nope-unset}", "hB unset\n"],
    ["traps", "trap 'echo int' INT; trap 'echo bye' EXIT", "trap -p", "(no output)"],
    ["positional parameters", "set -- a b", "echo $#", "0\n"],
    ["read-only variables", "readonly ro=1", "echo [$ro]", "[]\n"],
    ["local variables at an exit", "f() { local lo=1; exit 0; }; f", "echo [$lo]", "[]\n"],
    ["extdebug and posix mode", "shopt -s extdebug; set -o posix", "shopt -q extdebug; echo $? $-", "1 hB\n"],
  ])("25 %s are not carried", async (_, command, probe, text) => {
    expect(await carried(command, probe)).toBe(text);
  });

  test("12 exit keeps directory and variables", async () => {
    expect(await carried("cd /usr; export E=1; exit 3", "echo $PWD $E; cd")).toBe("/usr 1\n");
  });

  test.each([
    ["13 exec", "cd /usr; exec true", "ok"],
    ["21 kill -9", "cd /usr; kill -9 $$", "failed"],
    ["27 a file limit of zero", "cd /usr; ulimit -f 0", "ok"],
  ])("%s leaves the state as before and says so", async (_, command, status) => {
    await shell.run("cd; z=1");
    const result = await shell.run(command);
    expect(result.status).toBe(status);
    expect(shown(result)).toContain("the shell ended without saving its state");
    expect(await shell.text("[ $PWD = $HOME ] && echo $z")).toBe("1\n");
  });

  test("26 an empty PATH is the command's problem only", async () => {
    expect(await carried("old=$PATH; PATH=", "ls; PATH=$old")).toContain("ls: No such file or directory");
    expect(await carried("readonly PATH=/nope", "ls -d /")).toBe("/\n");
  });

  test("24 a directory that is gone is replaced by the nearest that exists, and said", async () => {
    await shell.run("mkdir -p a/b; cd a/b; rm -r ../../a");
    const text = await shell.text("pwd");
    expect(text).toBe(
      `${shell.folder}\n[the directory ${shell.folder}/a/b is gone or closed; this command began in ${shell.folder}]`,
    );
  });

  test.each([
    "builtin() { echo evil; }; declare() { echo evil; }; trap() { echo evil; }; unset() { echo evil; }; shopt() { echo evil; }",
    "printf() { :; }; export -f printf; pwd() { echo /evil; }; read() { :; }; eval() { :; }",
    "alias declare='echo evil' alias='echo evil' eval='echo evil' printf=false unset=false; alias pwd='echo /evil'",
    "declare() { echo evil; }; readonly -f declare",
    "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec >/dev/null",
    "IFS=abcdefghijklmnop; set -f; set -C; POSIXLY_CORRECT=1",
  ])("a shell poisoned by `%s` works in the next call", async (command) => {
    const poisoned = new TestShell();
    await poisoned.run(`cd /usr; ${command}`);
    expect(await poisoned.text("\\unalias -a; \\command -p ls -d /")).toBe("/\n");
    expect(await poisoned.text("kept=1; command echo done")).toBe("done\n");
    await poisoned.close();
  });

  test("a state above 1 MiB loses its largest values, which are named", async () => {
    const text = await shell.text("small=1; big=$(head -c 1100000 /dev/zero | tr '\\0' x)");
    expect(text).toContain("[big not carried to the next command");
    expect(await shell.text("echo $small [$big]")).toBe("1 []\n");
  });

  test("a restarted tool host finds the state", async () => {
    await shell.run("cd /usr; export KEPT=1; fn() { echo fn; }");
    shell.restart();
    expect(await shell.text("echo $PWD $KEPT; fn; cd")).toBe("/usr 1\nfn\n");
  });

  test("a half-written state is not taken over", async () => {
    await shell.run("half=0");
    const result = await shell.run("half=1; trap '' XFSZ; ulimit -f 1");
    expect(shown(result)).toContain("without saving its state");
    expect(await shell.text("echo $half")).toBe("0\n");
    expect(readdirSync(shell.hello.state).filter((name) => name.startsWith("run"))).toEqual([]);
    expect(readFileSync(join(shell.hello.state, "shell-state"), "latin1")).toMatch(/\0[0-9a-f]{32}$/);
  });
});

describe("an image with only sh", () => {
  let posix: TestShell;
  beforeAll(() => {
    posix = new TestShell({ programs: { rg: "", terminal: "", shell: "/bin/sh", shellKind: "sh" } });
  });
  afterAll(() => posix.close());

  test("carries directory and exported variables, and says what it does not once", async () => {
    expect(await posix.text('cd /usr; export A="it\'s  1"; b=1; exit 3')).toContain("[this image has no bash");
    expect(await posix.text('pwd; echo "$A" [$b]')).toBe("/usr\nit's  1 []\n");
  });

  test("ends a syntax error at once", async () => {
    const result = await posix.run('echo "abc');
    expect([result.status, result.details.exit_code]).toEqual(["failed", 2]);
    expect(await posix.text("echo alive")).toBe("alive\n");
  });
});
