import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { textOf } from "../../src/core/messages.ts";
import type { ToolResult } from "../../src/core/tool-result.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";

export type ContractOptions = { open: (root: string) => Promise<Sandbox> };

/** Calls a tool and waits, for a minute at most. */
export function call(
  sandbox: Sandbox,
  tool: string,
  args: JsonObject,
  signal = new AbortController().signal,
): Promise<ToolResult> {
  return sandbox.call({ tool, args, deadlineMs: 60_000 }, { signal, onOutput: () => undefined });
}

export function words(result: ToolResult): string {
  return textOf(result.content);
}

/** Tells the processes of this suite from those of others on the machine. */
const mark = String(process.pid).padStart(7, "0");

/** A command that counts our processes whose command line begins so. */
function countOf(start: string): string {
  return `pgrep -f '^${start}.*${mark}$' | wc -l`;
}

/** What every sandbox promises, whatever its wall is made of. */
export function describeSandbox(name: string, { open }: ContractOptions): void {
  describe(name, () => {
    let root = "";
    let sandbox: Sandbox;
    const run = (tool: string, args: JsonObject): Promise<ToolResult> => call(sandbox, tool, args);
    const sh = (command: string, extra: JsonObject = {}): Promise<ToolResult> => run("bash", { command, ...extra });

    beforeAll(async () => {
      root = await mkdtemp(join(tmpdir(), "glovebox-contract-"));
      await chmod(root, 0o777);
      sandbox = await open(root);
    });
    afterAll(async () => {
      await sandbox?.close();
      await rm(root, { recursive: true, force: true });
    });

    it("writes, reads, edits, lists and finds files of the workspace", async () => {
      expect(
        (await run("write", { path: "src/sum.js", content: "export const sum = (a, b) => a - b;\n" })).status,
      ).toBe("ok");
      expect(words(await run("read", { path: "src/sum.js" }))).toContain("a - b");
      expect((await run("edit", { path: "src/sum.js", edits: [{ oldText: "a - b", newText: "a + b" }] })).status).toBe(
        "ok",
      );
      expect(await readFile(join(root, "src/sum.js"), "utf8")).toBe("export const sum = (a, b) => a + b;\n");
      expect(words(await run("ls", { path: "src" }))).toContain("sum.js");
      expect(words(await run("find", { pattern: "**/*.js" }))).toContain("src/sum.js");
      expect(words(await run("grep", { pattern: "a \\+ b" }))).toContain("src/sum.js");
    });

    it("runs a command with its exact exit code, as fields that output cannot imitate", async () => {
      const result = await sh("echo '[exit code 0]'; exit 42");
      expect([result.status, result.details.exit_code]).toEqual(["failed", 42]);
    });

    it("keeps directory, variables and functions from one command to the next", async () => {
      await sh("mkdir -p deep/down && cd deep/down && export A=1 && B=2 && f() { echo hi; }");
      expect(words(await sh('echo "$PWD $A $B $(f)"'))).toContain(`${root}/deep/down 1 2 hi`);
      await sh("cd ../..");
    });

    it("goes on after a command that ends the shell", async () => {
      for (const [command, code] of [
        ["exit 3", 3],
        ["set -e; false; echo no", 1],
        ["exec true", 0],
        ["kill -9 $$", 137],
      ] as const) {
        expect((await sh(command)).details.exit_code, command).toBe(code);
        expect(words(await sh("echo alive"))).toContain("alive");
      }
    });

    it("O-EXEC-01 ends the whole process tree of a command that runs too long, and keeps what it printed", async () => {
      const result = await sh(`echo start; (sleep 5.${mark}; touch late) & sleep 60.${mark}`, { timeout: 1 });
      expect(result.status).toBe("timed_out");
      expect(words(result)).toContain("start");
      expect(words(await sh(countOf("sleep")))).toBe("0\n");
      await expect(stat(join(root, "late"))).rejects.toThrow("ENOENT");
    });

    it("ends a cancelled command and still answers its call", async () => {
      const controller = new AbortController();
      const pending = sandbox.call(
        { tool: "bash", args: { command: "echo begun; sleep 60" }, deadlineMs: 60_000 },
        { signal: controller.signal, onOutput: () => controller.abort() },
      );
      const result = await pending;
      expect([result.status, result.reason]).toEqual(["cancelled", "interrupted"]);
      expect(words(result)).toContain("begun");
      expect(words(await sh("echo next"))).toContain("next");
    });

    it("gives every command an empty stdin", async () => {
      expect((await sh("cat; read x; echo got:$x")).status).toBe("ok");
    });

    it("O-EXEC-02 hands on characters that chunks cut in two", async () => {
      const result = await sh("yes '€uro-ß-漢字' | head -c 3000000 > f; cat f");
      expect(words(result)).not.toContain("\ufffd");
      expect(words(result)).toContain("€uro-ß-漢字");
      expect(result.truncated).toBe(true);
    });

    it("O-EXEC-03 never takes an exit code for another", async () => {
      for (let round = 0; round < 60; round++) expect((await sh("exit 42")).details.exit_code).toBe(42);
      expect((await sh("kill -9 $$")).details.exit_code).toBe(137);
      expect((await sh("kill -TERM $$")).details.exit_code).toBe(143);
    });

    it("O-EXEC-04 writes a file of five megabytes byte for byte", async () => {
      const content = `${"0123456789abcde\n".repeat(327_680)}é`;
      expect((await run("write", { path: "large.txt", content })).status).toBe("ok");
      const written = await readFile(join(root, "large.txt"));
      expect(createHash("sha256").update(written).digest("hex")).toBe(
        createHash("sha256").update(content).digest("hex"),
      );
    });

    it("O-EXEC-05 takes commands, contents and patterns of more than 128 KiB", async () => {
      const body = "x".repeat(200_000);
      expect(words(await sh(`wc -c <<'EOF'\n${body}\nEOF`))).toContain("200001");
      expect((await run("write", { path: "long.txt", content: `${"y".repeat(300_000)}\n` })).status).toBe("ok");
      const edited = await run("edit", {
        path: "long.txt",
        edits: [{ oldText: "y".repeat(300_000), newText: "z".repeat(150_000) }],
      });
      expect(edited.status).toBe("ok");
      expect((await run("grep", { pattern: "q".repeat(140_000), literal: true })).status).toBe("ok");
    });

    it("returns at once from a background job and ends it when asked", async () => {
      const started = await sh(`sleep 300.${mark}`, { background: true });
      expect(started.status).toBe("ok");
      expect(started.details.job_id).toBeGreaterThan(0);
      expect(words(await sh(countOf("sleep 300")))).toBe("1\n");
      const job = Number(started.details.job_id);
      expect(words(await run("bash", { job: 0 }))).toMatch(
        new RegExp(`^job ${job}: running for .*sleep 300.${mark}`, "m"),
      );
      expect(words(await run("bash", { job, kill: true }))).toMatch(/\[\d process(es)? of it ended\]\n/);
      expect(words(await sh(countOf("sleep 300")))).toBe("0\n");
    });

    it("29 keeps what a background job prints for whoever asks for it", async () => {
      const started = await sh("mkfifo go; echo one; read x <go; echo two; exit 3", { background: true });
      const job = Number(started.details.job_id);
      expect(words(await run("bash", { job }))).toMatch(/^one\n\[job \d+ is running for /);
      expect(words(await sh("echo >go; rm go; echo front"))).toBe("front\n");
      await expect.poll(async () => words(await run("bash", { job: 0 })), { timeout: 20_000 }).toContain("exit code 3");
      const result = await run("bash", { job });
      expect(words(result)).toMatch(/^two\n\[job \d+ ended with exit code 3 after /);
      expect([result.status, result.details.job_id, result.details.exit_code]).toEqual(["ok", job, 3]);
      expect(await run("bash", { job: 999 })).toMatchObject({ status: "failed" });
    });

    it("37 runs a program on a terminal, types into it and ends it", async () => {
      const started = await run("pty", { action: "start", command: "tty && exec cat", wait: 20 });
      expect(words(started)).toMatch(/^\/dev\/pts\/\d+\n\[job \d+ is running for /);
      const id = Number(started.details.job_id);
      expect(words(await run("pty", { action: "send", id, text: "hello\n", wait: 20 }))).toMatch(/^hello\n/);
      const ended = await run("pty", { action: "send", id, text: "\u0003", wait: 20 });
      expect(words(ended)).toMatch(/\^C\n?\[job \d+ ended with exit code 130 after /);
      expect(words(await run("bash", { job: id, kill: true }))).toContain("[nothing of it was running]");
    });

    it("does not wait for a background child that keeps the output open", async () => {
      const result = await sh(`(sleep 30.${mark}; echo late) & echo front`);
      expect(words(result)).toContain("front");
      expect(result.details.duration_ms).toBeLessThan(10_000);
      await sh(`pkill -f 'sleep 30.${mark}$'`);
    });

    it("answers calls that overlap, each with its own result", async () => {
      await Promise.all([
        writeFile(join(root, "one"), "1\n"),
        writeFile(join(root, "two"), "2\n"),
        mkdir(join(root, "dir")),
      ]);
      const results = await Promise.all(["one", "two", "dir"].map((path) => run("read", { path })));
      expect(results.map(({ status }) => status)).toEqual(["ok", "ok", "failed"]);
    });

    it("says what is wrong with arguments it does not know", async () => {
      const result = await run("read", { path: "one", lines: 3 });
      expect(result.status).toBe("invalid");
      expect(words(result)).toContain("unknown parameter `lines`");
    });

    it("shows the output of a running command as it comes", async () => {
      const shown: string[] = [];
      await sandbox.call(
        { tool: "bash", args: { command: "echo early; sleep 0.5; echo late" }, deadlineMs: 60_000 },
        { signal: new AbortController().signal, onOutput: (text) => shown.push(text) },
      );
      expect(shown.join("")).toContain("early");
    });
  });
}
