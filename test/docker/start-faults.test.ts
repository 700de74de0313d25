import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LABELS } from "../../src/sandbox/labels.ts";
import { parseOwner } from "../../src/sandbox/owner.ts";
import type { RunResult } from "../../src/session/result.ts";
import { cli, connect, Place, startCli } from "../support/engine.ts";
import { EngineRelay, type Fault, type RelayedRequest } from "../support/engine-relay.ts";
import { baseRef, buildTestImage, removeTestImage } from "../support/test-image.ts";
import { treeOf } from "../support/tree.ts";

const engine = await connect();
const { docker } = engine;
const image = `glovebox-test/steps:${process.pid}`;

// An image with a volume, and homes without a cache: a start with all the steps that a start can have.
beforeAll(() => buildTestImage(docker, image, `FROM ${baseRef(engine)}\nVOLUME /data`));
afterAll(() => removeTestImage(docker, image));

async function createPlace(): Promise<Place> {
  const place = await Place.create();
  await writeFile(join(place.root, "kept"), "x");
  await writeFile(join(place.folder, "s.yaml"), `- calls: [ { bash: { command: "echo x" } } ]\n- text: "Done."\n`);
  return place;
}

function runIn(place: Place): string[] {
  const script = join(place.folder, "s.yaml");
  return ["run", "--json", "--image", image, "--workspace", place.root, "--model", `scripted:${script}`, "go"];
}

function execIn(place: Place): string[] {
  return ["exec", "--image", image, "--workspace", place.root, "--", "echo", "x"];
}

/** What of ours `isTheirs` recognises by its labels. */
async function leftOf(isTheirs: (labels: Record<string, string>) => boolean): Promise<string[]> {
  const [containers, { Volumes: volumes }] = await Promise.all([
    docker.listContainers({ all: true, filters: { label: [LABELS.version] } }),
    docker.listVolumes({ filters: { label: [LABELS.version] } }),
  ]);
  return [
    ...containers.flatMap(({ Names, Labels }) => (isTheirs(Labels) ? [Names[0]?.slice(1) ?? ""] : [])),
    ...(volumes ?? []).flatMap(({ Name, Labels }) => (isTheirs(Labels) ? [Name] : [])),
  ];
}

function leftOfPids(pids: ReadonlySet<number>): Promise<string[]> {
  return leftOf((labels) => pids.has(parseOwner(labels[LABELS.owner])?.pid ?? 0));
}

/** `cold`: every start begins with an empty cache, and takes all the steps there are. */
type Step = { which: RegExp; fault: Fault; cold: boolean };
type Met = { relay: EngineRelay; env: Record<string, string>; request: Promise<RelayedRequest> };

/** Calls `meet` for each request of a start that is `which`, with a relay where that one meets `fault`; two at a time. */
async function atEach(place: Place, { which, fault, cold }: Step, meet: (met: Met) => Promise<unknown>): Promise<void> {
  let next = 1;
  const worker = async (name: string): Promise<void> => {
    const home = join(place.folder, `home-${name}`);
    const round = async (number: number): Promise<boolean> => {
      await using relay = await EngineRelay.create(join(place.folder, `${name}.sock`));
      let seen = 0;
      const request = new Promise<RelayedRequest>((resolve) => {
        relay.onRequest = (incoming) => {
          if (!which.test(incoming.method) || ++seen !== number) return "pass";
          resolve(incoming);
          return fault;
        };
      });
      if (cold) await rm(home, { recursive: true, force: true });
      await meet({ relay, request, env: { DOCKER_HOST: relay.host, GLOVEBOX_HOME: home } });
      return seen >= number;
    };
    // One that goes well fills the cache.
    if (!cold) await round(0);
    while (await round(next++));
  };
  await Promise.all(["a", "b"].map(worker));
}

const CHANGING = /^(?:POST|DELETE)$/;

describe("a start whose engine fails at a step", () => {
  it.each<[string, Step, (string | undefined)[]]>([
    [
      "refuses each request in turn",
      { which: /./, fault: "refuse", cold: true },
      ["ENGINE_FAILED", "ENGINE_UNREACHABLE", "SANDBOX_START_FAILED", undefined],
    ],
    ["is cut off before each change", { which: CHANGING, fault: "cut", cold: false }, ["ENGINE_FAILED", undefined]],
    ["is cut off after each change", { which: CHANGING, fault: "lose", cold: false }, ["ENGINE_FAILED", undefined]],
  ])("Y-01 %s: it ends with exit code 5 and a sentence, and leaves nothing", async (_, step, codes) => {
    await using place = await createPlace();
    const before = await treeOf(place.root);
    const wrong: string[] = [];
    const seen: (string | undefined)[] = [];
    await atEach(place, step, async ({ env, request }) => {
      const { stdout, stderr } = await cli(runIn(place), { env });
      const { session_id: session, error, exit_code: code, session_file: file }: RunResult = JSON.parse(stdout);
      seen.push(error?.code);
      const left = await leftOf((labels) => labels[LABELS.session] === session);
      const words = error?.message ?? "";
      const log = file ? await readFile(file, "utf8") : '"type":"run_end"';
      // What could not be cleaned up from earlier is no failure of this start.
      const isRight = left.length === 0 && code === (error ? 5 : 0) && !/HTTP code|undefined|: *$/.test(words);
      if (!isRight || !log.includes('"type":"run_end"')) {
        const { method, path } = await request;
        wrong.push(`${method} ${path}: exit code ${code}, ${words}, left ${left}, ${stderr}`);
      }
    });
    expect(wrong).toEqual([]);
    expect([...new Set(seen)].toSorted()).toEqual(codes);
    expect(seen.length).toBeGreaterThan(8);
    expect(await treeOf(place.root)).toEqual(before);
  });
});

describe("a controller that is killed at a step", () => {
  it.each<[string, (place: Place) => string[], Step]>([
    ["run", runIn, { which: /./, fault: "withhold", cold: true }],
    ["exec", execIn, { which: CHANGING, fault: "withhold", cold: false }],
  ])(
    "Y-01, Y-02 of `%s` leaves nothing that a start and gc do not remove, and they take nothing else",
    async (_, argsIn, step) => {
      await using place = await createPlace();
      const before = await treeOf(place.root);
      await using alive = await startLiving(place);
      const killed = new Set<number>();
      const left = new Set<string>();
      await atEach(place, step, async ({ relay, env }) => {
        const { child, ended } = startCli(argsIn(place), { env });
        const pid = child.pid ?? 0;
        const held = relay.withheld().then(() => killed.add(pid));
        await Promise.race([held, ended]);
        child.kill("SIGKILL");
        await ended;
        for (const name of await leftOfPids(new Set([pid]))) left.add(name);
      });
      expect(killed.size).toBeGreaterThan(8);
      expect(left.size).toBeGreaterThan(4);

      const rest = await leftOfPids(killed);
      const gc = await cli(["gc"]);
      expect(gc.code).toBe(0);
      expect(rest.filter((name) => !`${gc.stdout}${gc.stderr}`.includes(name))).toEqual([]);
      expect(await leftOfPids(killed)).toEqual([]);
      await alive.check();
      expect(await treeOf(place.root)).toEqual(before);
    },
  );
});

/** A session that works meanwhile, and a container that is not ours: what must not be removed. */
async function startLiving(place: Place): Promise<AsyncDisposable & { check: () => Promise<void> }> {
  const { child, ended, stdout } = startCli(["exec", "--image", image, "--workspace", place.root, "--", "cat"], {
    keepStdinOpen: true,
  });
  const foreign = await docker.createContainer({ Image: image, Labels: { "com.example": "1" } });
  child.stdin?.write("up\n");
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  const mine = await leftOfPids(new Set([child.pid ?? 0]));
  return {
    check: async () => {
      expect(await leftOfPids(new Set([child.pid ?? 0]))).toEqual(mine);
      expect((await foreign.inspect()).Id).toBe(foreign.id);
      child.stdin?.end("still\n");
      expect([(await ended).code, stdout()]).toEqual([0, "up\nstill\n"]);
    },
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
      await foreign.remove({ force: true, v: true });
    },
  };
}
