import { createHash } from "node:crypto";
import { chmod, chown, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, cliPath, connect, openSandbox, Place, startCli, startProgram } from "../support/engine.ts";
import { EngineRelay } from "../support/engine-relay.ts";
import { call, words } from "../support/sandbox-contract.ts";

const { docker } = await connect();

describe("Y-10 a workspace that goes away under a session", () => {
  it("removed on the host: calls fail and are answered, and nothing is made in its place", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    await writeFile(join(place.root, "a"), "x");
    expect(words(await call(sandbox, "read", { path: "a" }))).toContain("x");
    await rm(place.root, { recursive: true });
    const results = await Promise.all([
      call(sandbox, "write", { path: "b", content: "x" }),
      call(sandbox, "read", { path: "a" }),
      call(sandbox, "bash", { command: "echo x > c" }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["failed", "failed", "failed"]);
    expect(words(await call(sandbox, "bash", { command: "cd /tmp && echo alive" }))).toContain("alive");
    await sandbox.close();
    expect(await readdir(place.folder)).toEqual([]);
  });

  it("renamed on the host: the session stays with the folder, whatever has its name now", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const moved = join(place.folder, "moved");
    await rename(place.root, moved);
    await mkdir(place.root);
    expect((await call(sandbox, "write", { path: "b", content: "x" })).status).toBe("ok");
    expect([await readdir(place.root), await readdir(moved)]).toEqual([[], ["b"]]);

    await docker.getContainer(sandbox.facts.containerId).kill();
    const lost = await call(sandbox, "bash", { command: "echo x > c" });
    expect([lost.status, words(lost)]).toEqual(["lost", expect.stringContaining("is not the folder it was")]);
    expect(sandbox.failure?.code).toBe("SANDBOX_LOST");
    expect([await readdir(place.root), await readdir(moved)]).toEqual([[], ["b"]]);
  });

  it("renamed on the host, and the container dies: no folder is made where it was", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    await rename(place.root, join(place.folder, "moved"));
    await docker.getContainer(opened.sandbox.facts.containerId).kill();
    expect((await call(opened.sandbox, "bash", { command: "true" })).status).toBe("lost");
    expect(opened.sandbox.failure?.message).toContain("no longer there");
    expect(await readdir(place.folder)).toEqual(["moved"]);
  });
});

describe("Y-11 the engine that a docker context names", () => {
  it("is the one that is used", async () => {
    await using place = await Place.create();
    await using relay = await EngineRelay.create(join(place.folder, "engine.sock"));
    const env = { DOCKER_CONFIG: join(place.folder, "config"), DOCKER_HOST: undefined };
    await writeContext(env.DOCKER_CONFIG, "work", relay.host);
    const ended = await cli(["exec", "--workspace", place.root, "--", "echo", "there"], { env });
    expect([ended.code, ended.stdout]).toEqual([0, "there\n"]);
    expect(relay.requests.some(({ path }) => path === "/containers/create")).toBe(true);
  });
});

async function writeContext(folder: string, name: string, host: string): Promise<void> {
  const file = join(folder, "contexts/meta", createHash("sha256").update(name).digest("hex"), "meta.json");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(join(folder, "config.json"), JSON.stringify({ currentContext: name }));
  await writeFile(file, JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } }));
}

describe("Y-13 proxies that the docker configuration or the environment sets", () => {
  it("reach no container", async () => {
    await using place = await Place.create();
    const proxy = "http://user:secret@proxy.example:3128";
    const proxies = { default: { httpProxy: proxy, httpsProxy: proxy, ftpProxy: proxy, noProxy: "x.example" } };
    await writeFile(join(place.folder, "config.json"), JSON.stringify({ proxies }));
    const env = { DOCKER_CONFIG: place.folder, HTTP_PROXY: proxy, https_proxy: proxy, ALL_PROXY: proxy };
    const ended = await cli(["exec", "--workspace", place.root, "--", "env"], { env });
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("CI=1\n");
    expect(ended.stdout).not.toMatch(/proxy|secret/i);
  });
});

describe("Y-12 how a command ended", () => {
  it("tells its own exit code, a time limit, a signal and want of memory apart", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root, {
      limits: { memoryBytes: 128 * 1024 ** 2, tmpBytes: 16 * 1024 ** 2 },
    });
    const run = (command: string, more = {}) => call(opened.sandbox, "bash", { command, ...more });
    const results = [
      await run("exit 5"),
      await run("exit 124"),
      await run("exit 137"),
      await run("sleep 60", { timeout: 1 }),
      await run("kill -9 $$"),
      await run("kill -TERM $$"),
    ];
    expect(results.map(({ status, details }) => [status, details.exit_code, details.signal])).toEqual([
      ["failed", 5, undefined],
      ["failed", 124, undefined],
      ["failed", 137, undefined],
      ["timed_out", undefined, undefined],
      ["failed", 137, "SIGKILL"],
      ["failed", 143, "SIGTERM"],
    ]);
    const hungry = await run(`python3 -c "bytearray(400 * 1024 * 1024)"`);
    expect(hungry.status).toBe("failed");
    expect([hungry, ...results].map((result) => /memory/i.test(words(result)))).toEqual([
      true,
      ...Array(6).fill(false),
    ]);
  });

  it("P-31 files in memory count too: a full /tmp and HOME lose a call at most, and the session goes on", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root, { limits: { memoryBytes: 64 * 1024 ** 2 } });
    const fill = "cat /dev/zero > /tmp/f; cat /dev/zero > ~/f; cat /dev/zero > /dev/shm/f; echo full";
    const full = await call(opened.sandbox, "bash", { command: fill });
    expect(["ok", "failed", "lost"]).toContain(full.status);
    await call(opened.sandbox, "bash", { command: `python3 -c "bytearray(400 * 1024 * 1024)"` });
    await call(opened.sandbox, "bash", { command: "rm -f /tmp/f ~/f /dev/shm/f" });
    expect(words(await call(opened.sandbox, "bash", { command: "echo next" }))).toContain("next");
  });
});

describe("Y-03 two users of one engine", () => {
  it.runIf(process.getuid?.() === 0)(
    "do not remove each other's sessions, also where neither sees the other's processes",
    async () => {
      await using place = await Place.create();
      await using relay = await EngineRelay.create(join(place.folder, "engine.sock"));
      await chmod(place.folder, 0o755);
      await chmod(relay.path, 0o666);
      const other = join(place.folder, "other");
      const home = join(place.folder, "home");
      for (const folder of [other, home]) {
        await mkdir(folder);
        await chown(folder, 12_345, 12_345);
      }
      const args = ["exec", "--workspace", other, "--", "cat"];
      const env = { DOCKER_HOST: relay.host, HOME: home };
      const theirs = startProgram(...asUser(12_345, args), { env, keepStdinOpen: true });
      const mine = startCli(["exec", "--workspace", place.root, "--", "cat"], { keepStdinOpen: true });
      for (const { child } of [theirs, mine]) child.stdin?.write("up\n");
      await Promise.all([theirs, mine].map(firstOutput));
      const collected = await Promise.all([startProgram(...asUser(12_345, ["gc"]), { env }).ended, cli(["gc"])]);
      expect(collected.map(({ code }) => code)).toEqual([0, 0]);
      for (const { child } of [theirs, mine]) child.stdin?.end("still\n");
      const ended = await Promise.all([theirs.ended, mine.ended]);
      expect(ended.map(({ code, stdout }) => [code, stdout])).toEqual(Array(2).fill([0, "up\nstill\n"]));
    },
  );
});

/** The command line as another user, who sees only its own processes. */
function asUser(uid: number, args: readonly string[]): [string, string[]] {
  const hide = 'mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid "$0" --regid "$0" --clear-groups "$@"';
  return ["unshare", ["--mount", "sh", "-c", hide, String(uid), process.execPath, cliPath, ...args]];
}

function firstOutput({ child, ended }: ReturnType<typeof startProgram>): Promise<unknown> {
  const failed = ended.then(({ stderr }) => Promise.reject(new Error(`ended without output: ${stderr}`)));
  return Promise.race([new Promise((resolve) => child.stdout?.once("data", resolve)), failed]);
}
