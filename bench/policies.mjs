import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../scripts/setup.mjs";
import { figures, interleave, output, round, timed } from "./measure.mjs";
import { fromDist, openSandbox } from "./place.mjs";

const PROTECTED = 200;

/** What policies cost: to read them, to prove that they hold, to protect many paths. */
export async function policies(place) {
  return [await parsingRow(), await selfTestRow(place), await protectedRow(place)];
}

/** Four files of ours as four layers, in a process that has parsed nothing yet, its modules loaded. */
const PARSE = `
import { readFile } from "node:fs/promises";
const [dist, folder] = process.argv.slice(1);
const [{ parsePolicy }, { effectivePolicy }] =
  await Promise.all(["policy/parse.js", "policy/effective.js"].map((path) => import(dist + path)));
const names = ["strict", "default", "node", "offline"];
const texts = await Promise.all(names.map((name) => readFile(folder + name + ".yaml", "utf8")));
const layers = ["organisation", "user", "project", "flag"];
async function once() {
  const startedAt = performance.now();
  const [organisation, user, project, flags] =
    await Promise.all(texts.map(async (text, i) => (await parsePolicy(text, { file: names[i], layer: layers[i] })).opinions));
  effectivePolicy({ organisation, user, project, flags });
  return performance.now() - startedAt;
}
const times = [];
for (let round = 0; round < 50; round++) times.push(await once());
console.log(JSON.stringify({ first: times[0], later: times.slice(10) }));
`;

async function parsingRow() {
  const url = (path) => `${pathToFileURL(join(root, path)).href}/`;
  const args = ["--input-type=module", "-e", PARSE, url("dist"), `${join(root, "policies")}/`];
  const rounds = [];
  for (let count = 0; count < 15; count++) rounds.push(JSON.parse(await output(process.execPath, args)));
  const first = figures(rounds.map((each) => each.first));
  return {
    name: "parsing and merging four policies, the first time in a process",
    ...{ value: first.p50, unit: "ms", ratio: null, limit: "≤ 10 ms", holds: first.p50 <= 10 },
    raw: { first_ms: first, later_ms: figures(rounds.flatMap(({ later }) => later)) },
  };
}

async function selfTestRow(place) {
  let made;
  const opened = await openSandbox(place, { onOpened: (value) => (made = value) });
  await opened.close();
  const { Box } = await fromDist("sandbox/box.js");
  const box = await Box.start(made.engine, made.plan);
  try {
    const times = [];
    for (let count = 0; count < 20; count++) times.push(await timed(() => selfTest(box, made.plan.expect)));
    const test = figures(times);
    return {
      name: "self-test",
      ...{ value: test.p50, unit: "ms", ratio: null, limit: "≤ 120 ms", holds: test.p50 <= 120 },
      raw: { self_test_ms: test, first_ms: round(times[0]) },
    };
  } finally {
    await box.remove();
  }
}

async function selfTest(box, expect) {
  await box.connection.selfTest(expect);
}

async function protectedRow(place) {
  const paths = Array.from({ length: PROTECTED }, (_, index) => `protected/${index % 20}/${index}.txt`);
  for (const path of paths) {
    await mkdir(join(place.workspace, path, ".."), { recursive: true });
    await writeFile(join(place.workspace, path), "");
  }
  const readonly = paths.map((value, index) => ({ value, rule: `user/workspace.readonly[${index}]` }));
  const times = await interleave(
    { none: () => opening(place, []), many: () => opening(place, readonly) },
    { rounds: 12 },
  );
  const [none, many] = [figures(times.none), figures(times.many)];
  const ratio = round(many.p50 / none.p50);
  return {
    name: `opening a sandbox with ${PROTECTED} protected paths`,
    ...{ value: many.p50, unit: "ms", ratio, limit: "≤ 1.5 × one with none", holds: ratio <= 1.5 },
    raw: { none_ms: none, many_ms: many },
  };
}

async function opening(place, readonly) {
  const startedAt = performance.now();
  const sandbox = await openSandbox(place, { readonly });
  const ms = performance.now() - startedAt;
  await sandbox.close();
  return ms;
}
