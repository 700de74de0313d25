import { existsSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { shown, TestShell } from "./test-shell.ts";

let shell: TestShell;
beforeEach(() => {
  shell = new TestShell();
});
afterEach(() => shell.close());

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("a background job", () => {
  test("28 left by & is listed, lives on and can be killed", async () => {
    const result = await shell.run("sleep 60 & echo started");
    const pid = /pid (\d+) \(sleep 60\)/.exec(shown(result))?.[1];
    expect(shown(result)).toBe(
      `started\n[job 1 goes on in the background: pid ${pid} (sleep 60); what it prints from now on goes to ${shell.hello.state}/jobs/1/log; end it with kill ${pid}]`,
    );
    expect(result.details.job_id).toBe(1);
    await shell.run("sleep 60", { timeout: 0.1 });
    expect(shell.shell.describeJobs()).toContain(`job 1: running, pid ${pid}: sleep 60 & echo started`);
    await shell.run(`kill ${pid}`);
    await until(() => shell.shell.describeJobs().startsWith("job 1: ended"));
  });

  test("29 30 that prints later writes to its own log and holds nothing up", async () => {
    const begun = performance.now();
    expect(await shell.text("mkfifo go; (read x <go; echo late) & echo now")).toMatch(/^now\n\[job 1 /);
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(await shell.text("echo >go; echo second")).toBe("second\n");
    const log = `${shell.hello.state}/jobs/1/log`;
    await until(() => readFileSync(log, "utf8") !== "");
    expect(readFileSync(log, "utf8")).toContain("late\n");
  });

  test("31 with nohup and disown is found at the end", async () => {
    await shell.run("nohup sleep 60 >/dev/null 2>&1 & disown");
    expect(shell.shell.describeJobs()).toMatch(/^job 1: running/);
    expect(await shell.shell.endEverything()).toBe(0);
    expect(shell.shell.describeJobs()).toMatch(/^job 1: ended/);
  });

  test("asked for starts at once with the shell's state and changes nothing of it", async () => {
    await shell.run("v=1; cd /usr");
    const result = await shell.run("echo $v $PWD; v=2; cd /; sleep 60", { background: true });
    expect(result.status).toBe("ok");
    expect(shown(result)).toMatch(
      /^\(no output\)\n\[job 1 runs in the background: pid \d+, output in .*; end it with kill -- -\d+\]$/,
    );
    expect(await shell.text("echo $v $PWD")).toBe("1 /usr\n");
    expect(readFileSync(result.details.output_path ?? "", "utf8")).toBe("1 /usr\n");
  });

  test("that fails at once is told with its output", async () => {
    const result = await shell.run("nope", { background: true });
    expect([result.status, result.details.exit_code]).toEqual(["failed", 127]);
    expect(shown(result)).toMatch(
      /^bash: line 1: nope: command not found\n\[job 1 ended at once; .*\]\n\[exit code 127\]$/,
    );
  });

  test("keeps a bounded log", async () => {
    const small = new TestShell({ maxOutputFileBytes: 100_000 });
    const result = await small.run("seq 1 100000; exec sleep 60", { background: true });
    const log = result.details.output_path ?? "";
    await until(() => readFileSync(log, "utf8").endsWith("100000\n"));
    expect(readFileSync(log).length + readFileSync(`${log}.old`).length).toBeLessThanOrEqual(100_000);
    await small.close();
  });

  test("is not killed by a restarted tool host, and still known", async () => {
    const pid = (await shell.text("sleep 60 >/dev/null 2>&1 & echo $!")).split("\n")[0];
    shell.restart();
    expect(await shell.text("echo alive")).toBe("alive\n");
    expect(existsSync(`${shell.hello.state}/jobs/jobs.json`)).toBe(true);
    expect(shell.shell.describeJobs()).toContain("job 1: ");
    await shell.run(`kill ${pid}`);
  });
});
