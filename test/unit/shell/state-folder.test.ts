// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is shell text
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ensureFolder, moveFile, putFile, takeFile } from "../../../src/toolhost/shell/state-folder.ts";
import { shown, TestShell } from "./test-shell.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "glovebox-state-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What a command may put in place of a file or folder of ours. */
const PLANTS: [string, (path: string) => void][] = [
  ["a FIFO", (path) => void execFileSync("mkfifo", [path])],
  ["a link to a file", (path) => symlinkSync(join(folder, "victim"), path)],
  ["a link to nowhere", (path) => symlinkSync("/nowhere/at/all", path)],
  ["a link to a folder", (path) => symlinkSync(folder, path)],
  ["a file", (path) => writeFileSync(path, "planted")],
  ["a folder", (path) => mkdirSync(join(path, "deep/er"), { recursive: true })],
];

describe.each(PLANTS)("P-38 %s in the place of ours", (name, plant) => {
  test("is replaced by a file that is written, and nothing else is touched", () => {
    writeFileSync(join(folder, "victim"), "as it was");
    const path = join(folder, "ours");
    plant(path);
    putFile(path, "ours", "utf8");
    expect([readFileSync(path, "utf8"), readFileSync(join(folder, "victim"), "utf8")]).toEqual(["ours", "as it was"]);
  });

  test("is replaced by a file that is moved there", () => {
    const path = join(folder, "ours");
    plant(path);
    putFile(join(folder, "new"), "ours", "utf8");
    moveFile(join(folder, "new"), path);
    expect(takeFile(path, 100)?.toString()).toBe("ours");
  });

  test("is not read, unless it is a file", () => {
    writeFileSync(join(folder, "victim"), "secret");
    const path = join(folder, "ours");
    plant(path);
    expect(takeFile(path, 100)?.toString()).toBe(name === "a file" ? "planted" : undefined);
  });

  test("is replaced by a folder, closed to others", () => {
    const path = join(folder, "state/jobs");
    mkdirSync(join(folder, "state"));
    plant(path);
    ensureFolder(join(folder, "state"), path);
    expect([statSync(path).isDirectory(), statSync(path).mode & 0o777]).toEqual([true, 0o700]);
    if (name !== "a folder") expect(readdirSync(path)).toEqual([]);
  });
});

test("P-38 a file above the limit is not read into memory", () => {
  writeFileSync(join(folder, "large"), "x".repeat(101));
  expect([takeFile(join(folder, "large"), 100), takeFile("/dev/zero", 100)]).toEqual([undefined, undefined]);
});

describe("P-38 a command that spoils the state folder", () => {
  let shell: TestShell;
  beforeEach(async () => {
    shell = new TestShell();
    await shell.run("kept=1");
  });
  afterEach(async () => {
    if (existsSync(shell.hello.state)) chmodSync(shell.hello.state, 0o700);
    await shell.close();
  });

  const REPLACED = /^\[the folder of the shell's own files, .*, was removed or replaced: .* as before this command\]$/m;

  test.each([
    ["by removing it", "rm -rf $S"],
    ["by a FIFO in its place", "rm -rf $S; mkfifo $S"],
    ["by a file in its place", "rm -rf $S; touch $S"],
    ["by a link to the workspace in its place", "mv $S $S.old; mkdir ws; ln -s $PWD/ws $S"],
    ["by closing it", "chmod 000 $S"],
    ["by closing the folder of the command", "chmod 0 ${0%/*}"],
  ])("%s loses its own changes only, and hears of it", async (_, command) => {
    const result = await shell.run(`S=${shell.hello.state}; kept=2; ${command}`);
    expect([result.status, shown(result)]).toEqual(["ok", expect.stringMatching(REPLACED)]);
    expect(await shell.text("echo $kept; kept=3")).toBe("1\n");
    expect(await shell.text("echo $kept")).toBe("3\n");
    expect(existsSync(join(shell.folder, "ws")) ? readdirSync(join(shell.folder, "ws")) : []).toEqual([]);
  });

  test.each(["shell-state", "jobs", "outputs", "jobs/jobs.json", "jobs/1", "jobs/2"])(
    "by a FIFO or a folder at %s costs nothing",
    async (name) => {
      for (const plant of ["mkfifo", "mkdir"]) {
        const path = join(shell.hello.state, name);
        expect(await shell.text(`rm -rf ${path}; mkdir -p ${path}; rmdir ${path}; ${plant} ${path}`)).toBe(
          "(no output)",
        );
        expect(await shell.text("seq 10000 | tail -n 3000; kept=5; sleep 0.2 & sleep 60 &", { timeout: 5 })).toMatch(
          /\[job \d+ goes on/,
        );
        expect((await shell.run("sleep 60", { background: true })).status).toBe("ok");
        expect(await shell.text("echo $kept")).toBe("5\n");
      }
    },
  );

  test("by a FIFO where its own state goes is ended at its limit only", async () => {
    const result = await shell.run("kept=2; rm ${0%/*}/saved; mkfifo ${0%/*}/saved", { timeout: 0.5 });
    expect(result.status).toBe("timed_out");
    expect(await shell.text("echo $kept")).toBe("1\n");
  });

  test("by removing what saves its state keeps its exit code", async () => {
    const result = await shell.run("rm ${0%/*}/save; exit 7");
    expect([result.details.exit_code, shown(result)]).toEqual([7, expect.stringContaining("without saving its state")]);
  });

  test("over and over, from a job, loses the job", async () => {
    const spoil = `while true; do rm -rf ${shell.hello.state}; mkfifo ${shell.hello.state}; done`;
    await shell.run(`(${spoil}) >/dev/null 2>&1 & sleep 0.3`);
    expect(await shell.text("echo alive $kept")).toBe(
      "alive 1\n[something keeps spoiling the folder of the shell's own files, so all background jobs were ended before this command]",
    );
  });

  test("before its tool host is started again is told that the state is lost", async () => {
    await shell.run(`rm ${shell.hello.state}/shell-state; kill -9 $$`);
    shell.restart();
    expect(await shell.text("echo [$kept]")).toBe(
      "[]\n[the tool host was started again and found no state of the shell: directory and variables are as at the start]",
    );
    expect(await shell.text("echo next")).toBe("next\n");
  });

  test("by a function called `:` does not run it in later commands", async () => {
    await shell.run(":() { echo evil; }");
    expect(await shell.text("trap - DEBUG; echo next")).toBe("next\n");
  });
});
