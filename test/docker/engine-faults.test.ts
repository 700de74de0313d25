import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../src/core/events.ts";
import { textOf } from "../../src/core/messages.ts";
import { LABELS } from "../../src/sandbox/labels.ts";
import { summarise } from "../../src/session/history.ts";
import { cli, connect, type Ended, openSandbox, Place, startCli } from "../support/engine.ts";
import { EngineRelay } from "../support/engine-relay.ts";
import { eventOf, eventsOf } from "../support/events.ts";
import { call, words } from "../support/sandbox-contract.ts";
import { SecondEngine } from "../support/second-engine.ts";

const first = await connect();

// Most of the time of these is waiting, so they wait together.

/** Begins, and would take long. */
const SLEEP = `- calls: [ { bash: { command: "echo x >> $PWD/begun; sleep 300" } } ]\n`;

async function startRun(place: Place, script: string, env: Record<string, string>) {
  const file = join(place.folder, "s.yaml");
  await writeFile(file, script);
  return startCli(["run", "--events", "--workspace", place.root, "--model", `scripted:${file}`, "go"], { env });
}

type Results = [status: string, words: string][];

function resultsOf(events: readonly SessionEvent[]): Results {
  return events.flatMap((event) => (event.type === "tool_result" ? [[event.status, textOf(event.content)]] : []));
}

/** Containers of ours of that engine, also those that have ended. */
async function containersOf(engine: { docker: typeof first.docker }, session: string): Promise<number> {
  const filters = { label: [`${LABELS.session}=${session}`] };
  return (await engine.docker.listContainers({ all: true, filters })).length;
}

/** What every run owes that has lost its engine for good: exit code 5, each call answered once, a log that can be read. */
async function expectLost(
  run: { stdout: () => string; ended: Promise<Ended> },
  place: Place,
  home: string,
): Promise<void> {
  const { code, stderr } = await run.ended;
  const events = eventsOf(run);
  expect([code, stderr]).toEqual([5, expect.stringContaining("could not be brought back")]);
  expect(resultsOf(events)).toEqual([["lost", expect.stringContaining("may have had effects")]]);
  expect(events.filter(({ type }) => type === "call_started").length).toBe(1);
  const header = events.find((event) => event.type === "session");
  const [folder] = await readdir(join(home, "sessions"));
  const log = join(home, "sessions", folder ?? "", `${header?.id}.jsonl`);
  expect(await summarise(log)).toMatchObject({ outcome: "failed", toolCalls: 1, isTorn: false });
  expect(await readdir(place.root)).toEqual(["begun"]);
}

describe.concurrent("Y-04 a connection to the engine that breaks", () => {
  it("in the middle of a call: the call is lost, the same container goes on, nothing is run again", async () => {
    await using place = await Place.create();
    await using relay = await EngineRelay.create(join(place.folder, "engine.sock"));
    await using opened = await openSandbox(place.root, { env: { ...process.env, DOCKER_HOST: relay.host } });
    const { sandbox, events } = opened;
    await call(sandbox, "bash", { command: "export KEPT=yes; echo x > /tmp/x" });
    const running = call(sandbox, "bash", { command: "echo x >> begun; sleep 300" });
    await fileIn(place.root, "begun");
    relay.cut();
    await sleep(1_000);
    relay.mend();
    const lost = await running;
    expect([lost.status, words(lost)]).toEqual(["lost", expect.stringContaining("connection to the tool host broke")]);
    expect(
      words(await call(sandbox, "bash", { command: "echo $KEPT; cat /tmp/x begun; pgrep -c sleep || true" })),
    ).toBe("yes\nx\nx\n0\n");
    expect(events.map(({ event }) => event)).toEqual(["started", "selftest", "toolhost_restarted"]);
  });

  it("between calls: the next call says so, the one after it works", async () => {
    await using place = await Place.create();
    await using relay = await EngineRelay.create(join(place.folder, "engine.sock"));
    await using opened = await openSandbox(place.root, { env: { ...process.env, DOCKER_HOST: relay.host } });
    await call(opened.sandbox, "bash", { command: "cd /tmp" });
    relay.cut();
    relay.mend();
    expect((await call(opened.sandbox, "bash", { command: "true" })).status).toBe("lost");
    expect(words(await call(opened.sandbox, "bash", { command: "pwd" }))).toBe("/tmp\n");
  });

  it("for good, by a cut or half-open, ends the run with exit code 5; gc removes the container afterwards", async () => {
    const end = async (how: (relay: EngineRelay) => void): Promise<void> => {
      await using place = await Place.create();
      await using relay = await EngineRelay.create(join(place.folder, "engine.sock"));
      const home = join(place.folder, "home");
      const env = { DOCKER_HOST: relay.host, GLOVEBOX_HOME: home };
      const run = await startRun(place, `${SLEEP}- text: "Done."\n`, env);
      const { id } = await eventOf(run, "session");
      await fileIn(place.root, "begun");
      expect(await containersOf(first, id)).toBe(1);
      how(relay);
      await expectLost(run, place, home);
      relay.mend();
      expect((await cli(["gc"], { env })).code).toBe(0);
      expect(await containersOf(first, id)).toBe(0);
    };
    const silence = (relay: EngineRelay): void => {
      relay.isSilent = true;
    };
    await Promise.all([end((relay) => relay.cut()), end(silence)]);
  });

  it("for good is not waited for when a person ends the run", async () => {
    await using place = await Place.create();
    await using relay = await EngineRelay.create(join(place.folder, "engine.sock"));
    const run = await startRun(place, SLEEP, { DOCKER_HOST: relay.host });
    await fileIn(place.root, "begun");
    relay.cut();
    await sleep(500);
    const before = performance.now();
    run.child.kill("SIGINT");
    expect((await run.ended).code).toBe(130);
    // The engine would be waited for for 30 s.
    expect(performance.now() - before).toBeLessThan(10_000);
    expect(resultsOf(eventsOf(run)).map(([status]) => status)).toEqual(["lost"]);
  });
});

describe.concurrent("Y-04 a container that is paused", () => {
  it("and goes on in time changes nothing; for good, it is replaced", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox, events } = opened;
    const paused = first.docker.getContainer(sandbox.facts.containerId);
    const brief = call(sandbox, "bash", { command: "echo a; sleep 2; echo b" });
    await paused.pause();
    await sleep(3_000);
    await paused.unpause();
    expect(words(await brief)).toBe("a\nb\n");

    const lost = call(sandbox, "bash", { command: "echo x > /tmp/x; sleep 300" });
    await paused.pause();
    const result = await lost;
    expect([result.status, words(result)]).toEqual(["lost", expect.stringContaining("its container was paused")]);
    expect(words(await call(sandbox, "bash", { command: "test -e /tmp/x || echo gone" }))).toBe("gone\n");
    expect(events.map(({ event }) => event)).toEqual(["started", "selftest", "lost", "started", "selftest"]);
    await expect(paused.inspect()).rejects.toMatchObject({ statusCode: 404 });
  });
});

describe.concurrent("Y-04 an engine that is stopped", () => {
  it("and started, in a call and between calls, or for good; Y-11 one that does not see the workspace", async () => {
    await using engine = await SecondEngine.create(first);
    const env = { ...process.env, DOCKER_HOST: engine.host };
    await inCall(engine, env);
    await betweenCalls(engine, env);
    await forGood(engine);
    await elsewhere(engine);
  });
});

/** `SIGTERM` ends the containers with the daemon; a killed daemon leaves them, and the next one ends them. */
async function inCall(engine: SecondEngine, env: NodeJS.ProcessEnv): Promise<void> {
  await using place = await Place.create();
  await using opened = await openSandbox(place.root, { env });
  const { sandbox, events } = opened;
  await call(sandbox, "bash", { command: "echo x > /tmp/x" });
  const running = call(sandbox, "bash", { command: "echo x >> begun; sleep 300" });
  await fileIn(place.root, "begun");
  await engine.stop("SIGTERM");
  await engine.start();
  const lost = await running;
  expect([lost.status, words(lost)]).toEqual(["lost", expect.stringContaining("A new sandbox was started")]);
  expect(words(await call(sandbox, "bash", { command: "cat begun; test -e /tmp/x || echo gone" }))).toBe("x\ngone\n");
  expect(events.map(({ event }) => event)).toEqual(["started", "selftest", "lost", "started", "selftest"]);
}

async function betweenCalls(engine: SecondEngine, env: NodeJS.ProcessEnv): Promise<void> {
  await using place = await Place.create();
  await using opened = await openSandbox(place.root, { env });
  // The first call that may write looks through the workspace before; a break found by that costs no call.
  expect((await call(opened.sandbox, "bash", { command: "true" })).status).toBe("ok");
  await engine.stop("SIGKILL");
  await engine.start();
  expect((await call(opened.sandbox, "bash", { command: "echo x > begun" })).status).toBe("lost");
  expect(words(await call(opened.sandbox, "bash", { command: "test -e begun || echo not run" }))).toBe("not run\n");
}

async function forGood(engine: SecondEngine): Promise<void> {
  await using place = await Place.create();
  const home = join(place.folder, "home");
  const env = { DOCKER_HOST: engine.host, GLOVEBOX_HOME: home };
  const run = await startRun(place, `${SLEEP}- text: "Done."\n`, env);
  const { id } = await eventOf(run, "session");
  await fileIn(place.root, "begun");
  await engine.stop("SIGKILL");
  await expectLost(run, place, home);
  await engine.start();
  const gc = await cli(["gc"], { env });
  expect([gc.code, gc.stdout + gc.stderr]).toEqual([0, expect.stringContaining(id)]);
  expect(await containersOf(await connect(env), id)).toBe(0);
}

async function elsewhere(engine: SecondEngine): Promise<void> {
  await using place = await Place.create(engine.hidden);
  const run = await startRun(place, `- text: "Done."\n`, { DOCKER_HOST: engine.host });
  const { code, stderr } = await run.ended;
  expect([code, stderr]).toEqual([5, expect.stringContaining("The engine does not see this machine's files")]);
}

async function fileIn(folder: string, name: string): Promise<void> {
  for (let round = 0; round < 600; round++) {
    if ((await readdir(folder)).includes(name)) return;
    await sleep(50);
  }
  throw new Error(`\`${name}\` did not appear in 30 s`);
}
