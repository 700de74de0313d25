import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LABELS } from "../../src/sandbox/labels.ts";
import type { RunResult } from "../../src/session/result.ts";
import { cli, connect, Place, startCli } from "../support/engine.ts";
import { EngineRelay, type Fault, type RelayedRequest } from "../support/engine-relay.ts";
import { baseRef, buildTestImage, removeTestImage } from "../support/test-image.ts";

const { docker, ...engine } = await connect();
const image = `glovebox-test/steps:${process.pid}`;

// An image with a volume and a home without a cache: a start with all the steps a start can have.
beforeAll(() => buildTestImage(docker, image, `FROM ${baseRef({ docker, ...engine })}\nVOLUME /data`));
afterAll(() => removeTestImage(docker, image));

let homes = 0;

function argsIn(place: Place): string[] {
  const script = join(place.folder, "s.yaml");
  return ["run", "--json", "--image", image, "--workspace", place.root, "--model", `scripted:${script}`, "go"];
}

function envIn(place: Place, relay: EngineRelay): Record<string, string> {
  return { DOCKER_HOST: relay.host, GLOVEBOX_HOME: join(place.folder, `home-${homes++}`) };
}

async function createPlace(): Promise<Place> {
  const place = await Place.create();
  await writeFile(join(place.folder, "s.yaml"), `- calls: [ { bash: { command: "echo x" } } ]\n- text: "Done."\n`);
  return place;
}

/** Everything of ours in the engine with this session's label. */
async function leftOf(session: string): Promise<string[]> {
  const filters = { label: [`${LABELS.session}=${session}`] };
  const [containers, { Volumes: volumes }] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listVolumes({ filters }),
  ]);
  return [...containers.map(({ Names }) => Names[0] ?? ""), ...(volumes ?? []).map(({ Name }) => Name)];
}

type Failed = { request: RelayedRequest; result: RunResult; stderr: string; left: string[] };

/** Runs once for each request of a start, which meets `fault` there; two at a time. */
async function failAtEach(place: Place, fault: Fault): Promise<Failed[]> {
  const failed: Failed[] = [];
  let next = 1;
  const worker = async (): Promise<void> => {
    for (let isThere = true; isThere; ) {
      const number = next++;
      await using relay = await EngineRelay.create();
      relay.onRequest = (request) => (request.number === number ? fault : "pass");
      const { stdout, stderr } = await cli(argsIn(place), { env: envIn(place, relay) });
      const request = relay.requests[number - 1];
      isThere = request !== undefined;
      const result: RunResult = JSON.parse(stdout);
      if (request) failed.push({ request, result, stderr, left: await leftOf(result.session_id ?? "") });
    }
  };
  await Promise.all([worker(), worker()]);
  return failed;
}

describe("a start whose engine fails at a step", () => {
  it.each<[string, Fault]>([
    ["refuses", "refuse"],
    ["is cut off at", "cut"],
    ["carries out, without an answer,", "lose"],
  ])("Y-01 %s each request in turn ends with a sentence and exit code 5, and leaves nothing", async (_, fault) => {
    await using place = await createPlace();
    const failed = await failAtEach(place, fault);
    const wrong = failed.filter(({ result, left }) => left.length > 0 || !(result.exit_code === 5 || isHarmless(result)));
    expect(wrong.map(describeFailure)).toEqual([]);
    const words = failed.flatMap(({ result }) => (result.error ? [result.error.message] : []));
    expect(words.filter((text) => /HTTP code|\bundefined\b|: *$/.test(text))).toEqual([]);
    const codes = new Set(failed.map(({ result }) => result.error?.code));
    expect([...codes].toSorted()).toEqual(CODES[fault]);
    expect(await readdir(place.root)).toEqual([]);
    for (const { result } of failed.filter(({ result: { session_file: file } }) => file)) {
      const log = await readFile(result.session_file ?? "", "utf8");
      expect(log).toContain('"type":"run_end"');
    }
  });
});

/** What cannot be cleaned up is left to the next start, which is no failure of this one. */
function isHarmless({ exit_code: code, error }: RunResult): boolean {
  return code === 0 && error === null;
}

function describeFailure({ request, result, left }: Failed): string {
  const { method, path, number } = request;
  return `${number} ${method} ${path.replace(/[0-9a-f]{32,}/, "ID")}: ${result.exit_code} ${result.error?.code} ${result.error?.message} ${left}`;
}

const CODES: Partial<Record<Fault, (string | undefined)[]>> = {
};
