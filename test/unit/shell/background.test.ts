import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { shown, TestShell } from "./test-shell.ts";

let shell: TestShell;
beforeEach(() => {
  shell = new TestShell();
});
afterEach(() => shell.close());

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 5));
}

const list = async (): Promise<string> => shown(await shell.job(0));
const look = async (id: number, of = shell): Promise<string> => shown(await of.job(id));

function commandLines(): string[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      return [readFileSync(`/proc/${name}/cmdline`, "latin1").replaceAll("\0", " ").trim()];
    } catch {
      return [];
    }
  });
}

describe("a background job", () => {
  test("28 left by & is listed, lives on and can be killed", async () => {
    const result = await shell.run("sleep 60 & echo started");
    const pid = /pid (\d+) \(sleep 60\)/.exec(shown(result))?.[1];
    expect(shown(result)).toBe(
      `started\n[job 1 goes on in the background: pid ${pid} (sleep 60); what it prints from now on goes to ${shell.hello.state}/jobs/1/log; read it with bash {"job": 1}, end it with bash {"job": 1, "kill": true}]`,
    );
    expect(result.details.job_id).toBe(1);
    await shell.run("sleep 60", { timeout: 0.1 });
    expect(await list()).toMatch(
      new RegExp(`^job 1: running for \\d+ s, pid ${pid} \\(sleep 60\\): sleep 60 & echo started; log /.*/jobs/1/log$`),
    );
    await shell.run(`kill ${pid}`);
    await until(async () => (await list()).startsWith("job 1: ended: "));
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
    expect(await list()).toMatch(/^job 1: running .*; output sent elsewhere$/);
    expect(await shell.shell.endEverything()).toBe(0);
    expect(await list()).toMatch(/^job 1: ended/);
  });

  test("asked for starts at once with the shell's state and changes nothing of it", async () => {
    await shell.run("v=1; cd /usr");
    const result = await shell.run("echo $v $PWD; v=2; cd /; sleep 60", { background: true });
    expect(result.status).toBe("ok");
    expect(shown(result)).toMatch(
      /^\(no output\)\n\[job 1 runs in the background: pid \d+, output in .*; read it with bash \{"job": 1\}, end it with .*\]$/,
    );
    expect(await shell.text("echo $v $PWD")).toBe("1 /usr\n");
    expect(readFileSync(result.details.output_path ?? "", "utf8")).toBe("1 /usr\n");
  });

  test("that fails at once is told with its output", async () => {
    const result = await shell.run("nope", { background: true });
    expect([result.status, result.details.exit_code]).toEqual(["failed", 127]);
    expect(shown(result)).toMatch(
      /^bash: line 1: nope: command not found\n\[job 1 ended with exit code 127 after 0 s; log \S+\]$/,
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
    expect(await list()).toContain(`job 1: running for 0 s, pid ${pid} `);
    expect(await look(1)).toContain("it sends its output elsewhere]");
    expect(shown(await shell.job(1, true))).toContain("[1 process of it ended]\n[job 1 ended; ");
  });
});

describe("a call for a background job", () => {
  test("gives what was printed since the last one, then how it is", async () => {
    await shell.run("mkfifo go; echo one; read x <go; echo two; exit 3", { background: true });
    expect(await look(1)).toMatch(/^one\n\[job 1 is running for \d+ s, pid \d+ .*; log .*\/jobs\/1\/log\]$/);
    expect(await look(1)).toMatch(/^\(no new output\)\n\[job 1 is running/);
    await shell.run("echo >go");
    await until(async () => !(await list()).includes("running"));
    const result = await shell.job(1);
    expect(shown(result)).toMatch(/^two\n\[job 1 ended with exit code 3 after \d+ s; log /);
    expect([result.status, result.details.job_id, result.details.exit_code]).toEqual(["ok", 1, 3]);
    expect(result.details.output_path).toBe(`${shell.hello.state}/jobs/1/log`);
    expect(await look(1)).toMatch(/^\(no output\)\n\[job 1 ended with exit code 3/);
  });

  test("has the messages of the shell under its name", async () => {
    await shell.run("sleep 0.3; nope", { background: true });
    await until(async () => !(await list()).includes("running"));
    expect(await look(1)).toMatch(/^bash: line 1: nope: command not found\n/);
  });

  test("does not wait for a running command, neither does a kill", async () => {
    await shell.run("sleep 60 & echo");
    const long = shell.run("mkfifo go; read x <go; echo done");
    await until(() => existsSync(`${shell.folder}/go`));
    expect(await list()).toMatch(/^job 1: running/);
    expect(shown(await shell.job(1, true))).toContain("[1 process of it ended]");
    expect(await list()).toMatch(/^job 1: ended/);
    writeFileSync(`${shell.folder}/go`, "\n");
    expect(shown(await long)).toBe("done\n");
  });

  test("ends the whole tree of a job, after its last words", async () => {
    const command = "trap 'echo last words; exit 7' TERM; setsid sleep 61 & sh -c 'sleep 62; :' & echo ready; wait";
    await shell.run(command, { background: true });
    await until(async () => readFileSync(`${shell.hello.state}/jobs/1/log`, "utf8") === "ready\n");
    const result = await shell.job(1, true);
    expect(shown(result)).toMatch(
      /^ready\nlast words\n\[4 processes of it ended\]\n\[job 1 ended with exit code 7 after \d+ s; log /,
    );
    expect(await shell.text("pgrep -f '^sleep 6[12]$' | wc -l")).toBe("0\n");
    expect(shown(await shell.job(1, true))).toContain("[nothing of it was running]");
  });

  test("knows what the first process left behind although nobody looked while it lived", async () => {
    await shell.run("sleep 0.3; sleep 66 & exit 4", { background: true });
    // Told by /proc, since a call would be a look.
    await until(() => commandLines().includes("sleep 66"));
    await until(
      () =>
        !commandLines().some(
          (line) => line.startsWith("sleep 0.3") || line.includes(`${shell.hello.state}/jobs/1/shell`),
        ),
    );
    await until(async () => (await list()).includes("what was started first ended with exit code 4"));
    expect(await list()).toMatch(/^job 1: running for \d+ s, pid \d+ \(sleep 66\); what was started first ended/);
    expect(shown(await shell.job(1, true))).toMatch(/\[1 process of it ended\]\n\[job 1 ended with exit code 4 after /);
  });

  test("names the signal that killed it", async () => {
    await shell.run("sleep 0.3; kill -9 $$", { background: true });
    await until(async () => !(await list()).includes("running"));
    const result = await shell.job(1);
    expect(shown(result)).toContain("[job 1 was killed by SIGKILL after ");
    expect([result.details.exit_code, result.details.signal]).toEqual([137, "SIGKILL"]);
  });

  test("for an unknown id names the ids there are", async () => {
    expect(shown(await shell.job(7))).toBe("No background job 7; there is none in this session");
    expect(await list()).toBe("No background jobs");
    await shell.run("true", { background: true });
    await shell.run("false", { background: true });
    const result = await shell.job(7, true);
    expect([result.status, shown(result)]).toEqual(["failed", "No background job 7; there are: 1, 2"]);
  });

  test("says how much of the output is gone when more came than is kept", async () => {
    const small = new TestShell({ maxOutputFileBytes: 8000 });
    await small.run("echo begin; mkfifo go; read x <go; seq 1 20000; exec sleep 60", { background: true });
    expect(await look(1, small)).toMatch(/^begin\n/);
    await small.run("echo >go");
    const log = `${small.hello.state}/jobs/1/log`;
    await until(() => existsSync(log) && readFileSync(log, "utf8").endsWith("20000\n"));
    const text = await look(1, small);
    const all = Array.from({ length: 20_000 }, (_, at) => `${at + 1}\n`).join("");
    const gone = Number(/\[(\d+) bytes before this are not kept any more\]/.exec(text)?.[1]);
    const output = text.slice(0, text.indexOf("["));
    expect(gone).toBeGreaterThan(all.length - 8001);
    expect(output.length + gone).toBe(all.length);
    expect(all.endsWith(output)).toBe(true);
    await small.close();
  });

  test("shows the end of a flood within the limits of any result", async () => {
    await shell.run("seq 1 100000", { background: true });
    await until(async () => !(await list()).includes("running"));
    await shell.run("seq 1 100000; sleep 0.3", { background: true });
    await until(async () => !(await list()).includes("running"));
    const result = await shell.job(2);
    expect(shown(result)).toMatch(/^98001\n/);
    expect(shown(result)).toContain("[output cut: shown are the last 2000 of 100000 lines, ");
    expect(result.truncated).toBe(true);
  });

  test("never cuts a character in two", async () => {
    await shell.run("printf 'caf\\xc3'; mkfifo go; read x <go; printf '\\xa9\\n'; sleep 60", { background: true });
    expect(await look(1)).toMatch(/^caf\n\[/);
    await shell.run("echo >go");
    await until(() => readFileSync(`${shell.hello.state}/jobs/1/log`, "utf8").endsWith("\n"));
    expect(await look(1)).toMatch(/^\u00e9\n\[/);
  });

  test("after a restart of the tool host shows what was kept and says that no more is", async () => {
    await shell.run("echo before; exec sleep 60", { background: true });
    await shell.job(1);
    shell.restart();
    const text = await look(1);
    expect(text).toMatch(/^before\n\[job 1 is running for/);
    expect(text).toContain("the tool host was started again, so what it printed later is not kept");
    expect(shown(await shell.job(1, true))).toContain("[1 process of it ended]");
  });
});
