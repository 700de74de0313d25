import { chown } from "node:fs/promises";
import { afterAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { connect, openSandbox, Place } from "../support/engine.ts";
import { call, words } from "../support/sandbox-contract.ts";
import { baseRef, buildTestImage, removeTestImage } from "../support/test-image.ts";

const engine = await connect();
const { docker } = engine;
const base = baseRef(engine);
const made: string[] = [];

async function image(name: string, lines: string): Promise<string> {
  const ref = `glovebox-test/pty-${name}:${process.pid}`;
  made.push(ref);
  return buildTestImage(docker, ref, lines);
}

afterAll(async () => {
  for (const ref of made) await removeTestImage(docker, ref);
});

/** A terminal in a sandbox: what was shown so far is kept, since a busy machine may fall quiet before an answer. */
class Terminal {
  readonly #sandbox: Sandbox;
  readonly id: number;
  #all: string;

  private constructor(sandbox: Sandbox, id: number, all: string) {
    this.#sandbox = sandbox;
    this.id = id;
    this.#all = all;
  }

  static async start(sandbox: Sandbox, command: string): Promise<Terminal> {
    const result = await call(sandbox, "pty", { action: "start", command, wait: 20 });
    return new Terminal(sandbox, result.details.job_id ?? 0, words(result));
  }

  /** Types, and waits until `pattern` has been shown since the last time. */
  async type(text: string, pattern: RegExp): Promise<string> {
    this.#all = "";
    return this.#until(pattern, { action: "send", id: this.id, text, wait: 20 });
  }

  async see(pattern: RegExp): Promise<string> {
    return pattern.test(this.#all) ? this.#all : this.#until(pattern, { action: "read", id: this.id, wait: 0.3 });
  }

  async #until(pattern: RegExp, first: JsonObject): Promise<string> {
    for (let next = first; ; next = { action: "read", id: this.id, wait: 0.3 }) {
      this.#all += words(await call(this.#sandbox, "pty", next));
      if (pattern.test(this.#all)) return this.#all;
      if (/\[job \d+ (ended|was killed)/.test(this.#all)) throw new Error(`it ended: ${this.#all}`);
    }
  }
}

/** Whether a terminal is real, asked of `sh` by nothing but builtins. */
async function tryShell(sandbox: Sandbox): Promise<void> {
  const terminal = await Terminal.start(sandbox, "PS1='$ ' sh -i");
  await terminal.type("x=41; echo sum:$((x + 1))\n", /sum:42\n/);
  await terminal.type("read y </dev/tty; echo got:$y\n", /got:\$y\n/);
  await terminal.type("word\n", /got:word\n/);
  await terminal.type("echo go''ing; while :; do :; done\n", /going\n/);
  await terminal.type("\u0003", /\^C/);
  await terminal.type("echo al''ive\n", /alive\n/);
  await terminal.type("exit 7\n", /\[job \d+ ended with exit code 7 after /);
}

async function countOf(sandbox: Sandbox, pattern: string): Promise<string> {
  return words(
    await call(sandbox, "bash", { command: `pgrep -f '${pattern}' | wc -l; ls /dev/pts | grep -c '^[0-9]'` }),
  );
}

describe("a terminal in a container", () => {
  it.each([
    ["root", 0],
    ["a user", 12_345],
  ])("controls what runs on it, for %s", async (_, uid) => {
    await using place = await Place.create(undefined, { forEveryone: true });
    if (process.getuid?.() === 0) await chown(place.root, uid, uid);
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const terminal = await Terminal.start(sandbox, "tty; stty size; id -u; ps -o tty=,tpgid= -p $$; cat");
    const seen = await terminal.see(/pts\/\d+ +\d+\n/);
    const owner = process.getuid?.() === 0 ? uid : process.getuid?.();
    expect(seen).toMatch(new RegExp(`^/dev/pts/\\d+\n40 120\n${owner}\npts/\\d+ +\\d+\n`));
    await tryShell(sandbox);
  });

  it("37 is the only one there: none of the machine can be reached", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const seen = words(
      await call(sandbox, "bash", { command: "ls /dev/pts; ls -d /dev/console /dev/tty?*; : </dev/tty" }),
    );
    expect(seen).toMatch(/^ptmx\n/);
    expect(seen.match(/No such (file or directory|device or address)/g)).toHaveLength(3);
    const terminal = await Terminal.start(sandbox, "ls /dev/pts; exec cat");
    expect(await terminal.see(/ptmx\n/)).toMatch(/^0\s+ptmx\n/);
  });

  it("38 serves a REPL with its history and its interrupts", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const terminal = await Terminal.start(opened.sandbox, "python3 -q");
    await terminal.see(/>>> /);
    await terminal.type("import sys, time; x = 20\n", />>> /);
    await terminal.type("x * 2 + 2, sys.stdin.isatty()\n", /\(42, True\)/);
    await terminal.type("print('go' + 'ing'); time.sleep(60)\n", /going\n/);
    await terminal.type("\u0003", /KeyboardInterrupt/);
    await terminal.type("input('name? ')\n", /name\? \n?/);
    await terminal.type("who\n", /'who'/);
    await terminal.type("\u0004", /\[job \d+ ended with exit code 0 after /);
  });

  it.each([
    ["that lost its bash", "nobash", `FROM ${base}\nRUN rm /bin/bash /usr/bin/bash; true`],
    [
      "with nothing but sh",
      "onlysh",
      `FROM ${base} AS b
RUN mkdir -p /r/bin && cp /bin/dash /r/bin/sh && cp -L --parents $(ldd /bin/dash | grep -o '/[^ ]*') /r
FROM scratch
COPY --from=b /r /
`,
    ],
  ])("works in an image %s", async (_, name, lines) => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root, { image: await image(name, lines) });
    await tryShell(opened.sandbox);
  });

  it("is ended with all that runs on it, whatever that ignores, twenty times over", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const before = await countOf(sandbox, "^sleep 6[67]$");
    for (let count = 0; count < 20; count++) {
      const command = "trap '' HUP TERM INT; setsid sleep 66 & echo begun; exec sleep 67";
      const terminal = await Terminal.start(sandbox, command);
      await terminal.see(/begun\n/);
      const how =
        count % 2 === 0 ? ["pty", { action: "kill", id: terminal.id }] : ["bash", { job: terminal.id, kill: true }];
      const ended = await call(sandbox, String(how[0]), how[1] as JsonObject);
      expect(words(ended)).toMatch(/\[\d processes of it ended\]\n\[job \d+ /);
    }
    expect(await countOf(sandbox, "^sleep 6[67]$")).toBe(before);
    expect(words(await call(sandbox, "bash", { job: 0 }))).not.toContain("running");
  });

  it("that is hung up by the end of its shell is a job as long as something of it runs", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const terminal = await Terminal.start(sandbox, "bash --norc -i");
    await terminal.type("sleep 68 & exit\n", /pid \d+ \(sleep 68\); what was started first ended with exit code 0/);
    expect(await countOf(sandbox, "^sleep 68$")).toMatch(/^1\n0\n/);
    expect(words(await call(sandbox, "bash", { job: terminal.id, kill: true }))).toContain("[1 process of it ended]");
    expect(await countOf(sandbox, "^sleep 68$")).toMatch(/^0\n0\n/);
  });

  it("on which 256 MiB are printed stays bounded and can be ended", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const memory = process.memoryUsage().rss;
    const terminal = await Terminal.start(
      sandbox,
      "head -c 256M /dev/zero | tr '\\0' 'x' | fold -w 99; echo over; cat",
    );
    const seen = await terminal.see(/over\n/);
    expect(seen).toMatch(/\[\d+ bytes before this are not kept any more\]/);
    expect(process.memoryUsage().rss - memory).toBeLessThan(100 * 1024 * 1024);
    const { details } = await call(sandbox, "bash", { job: terminal.id, kill: true });
    const size = words(await call(sandbox, "bash", { command: `cat ${details.output_path}* | wc -c` }));
    expect(Number(size)).toBeLessThanOrEqual(64 * 1024 * 1024);
  });

  it("is gone with a tool host that dies, and its job is still known", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const terminal = await Terminal.start(sandbox, "echo begun; sleep 69");
    await terminal.see(/begun\n/);
    await call(sandbox, "bash", { command: "pkill -9 -f gbx; true" });
    await expect.poll(() => countOf(sandbox, "^sleep 69$"), { timeout: 20_000 }).toMatch(/^0\n/);
    expect(words(await call(sandbox, "bash", { job: 0 }))).toMatch(/^job 1 \(on a terminal\): ended/);
    const again = await call(sandbox, "pty", { action: "send", id: 1, text: "x" });
    expect([again.status, words(again)]).toEqual([
      "failed",
      expect.stringContaining("[nothing was typed: it has ended]"),
    ]);
  });
});
