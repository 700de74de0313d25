import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shown, TestShell } from "./test-shell.ts";

let shell: TestShell;
beforeAll(() => {
  shell = new TestShell();
});
afterAll(() => shell.close());

const TIMED_OUT =
  "[timed out after 0.3 s; its processes were killed and the shell is as before it; for a server use background, for long work a higher timeout]";

describe("the end of a command", () => {
  test.each([
    ["21 kill -9 $$", "kill -9 $$", 137, "SIGKILL"],
    ["kill -TERM $$", "kill -TERM $$", 143, "SIGTERM"],
  ])("%s is told as a signal", async (_, command, exit_code, signal) => {
    const result = await shell.run(command);
    expect(result.details).toMatchObject({ exit_code, signal });
    expect(shown(result)).toMatch(new RegExp(`\\[the shell was killed by ${signal} \\(exit code ${exit_code}\\)\\]$`));
    expect(await shell.text("echo alive")).toBe("alive\n");
  });

  test.each([
    ["33 a sleeping command", "sleep 60", "(no output)"],
    ["34 a command that prints", "for i in 1 2 3; do echo $i; done; sleep 60", "1\n2\n3"],
    ["35 a command that ignores TERM", "trap '' TERM INT; echo deaf; while :; do sleep 1; done", "deaf"],
    ["35 a command with a TERM handler", "trap 'echo bye; exit 5' TERM; sleep 30 & wait", "bye"],
    ["a stopped shell", "echo s; kill -STOP $$", "s"],
    ["32 a pipeline in the foreground", "echo up; sleep 60 | cat | cat", "up"],
  ])("%s is ended at its limit, output kept", async (_, command, output) => {
    const begun = performance.now();
    const result = await shell.run(command, { timeout: 0.3 });
    expect(result.status).toBe("timed_out");
    expect(shown(result)).toBe(`${output}\n${TIMED_OUT}`);
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(await shell.text("echo alive")).toBe("alive\n");
  });

  test("O-EXEC-01 nothing of a timed out command goes on", async () => {
    await shell.run("(sleep 0.6; touch late) & sleep 60", { timeout: 0.2 });
    await shell.run("sleep 0.7");
    expect(existsSync(join(shell.folder, "late"))).toBe(false);
  });

  test("a cancelled command is ended with its output kept, one that waits is never started", async () => {
    const cancel = new AbortController();
    let begun: () => void = () => undefined;
    const printing = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const first = shell.run("echo part; sleep 60", { signal: cancel.signal, show: () => begun() });
    const second = shell.run("touch never", { signal: cancel.signal });
    await printing;
    cancel.abort();
    expect([(await second).status, shown(await second)]).toEqual(["cancelled", "Cancelled; it had not started"]);
    expect(shown(await first)).toBe("part\n[cancelled; its processes were killed and the shell is as before it]");
    expect(await shell.text("ls never")).toContain("No such file");
  });

  test("after the session's end nothing runs and nothing is left", async () => {
    const ending = new TestShell();
    await ending.run("sleep 60 & sleep 61 >/dev/null 2>&1 &");
    await ending.run("sleep 62", { background: true });
    expect(await ending.shell.endEverything()).toBe(0);
    expect((await ending.run("echo no")).status).toBe("cancelled");
    await ending.close();
  });
});
