import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { figures, interleave, round, timed } from "./measure.mjs";
import { call, openSandbox } from "./place.mjs";

const FILES = 20_000;
const SMALL = 40;
const SAME = ["--no-config", "--hidden", "--no-require-git", "--no-follow", "--sort", "path"];

/** `read` beside its own goal, `grep` and `find` beside rg by hand in the same container, reads together and in a row. */
export async function tools(place) {
  await plant(join(place.workspace, "large"), FILES);
  await plant(join(place.workspace, "small"), SMALL);
  await writeFile(join(place.workspace, "small.txt"), "a small file\n".repeat(20));
  const sandbox = await openSandbox(place);
  try {
    return [
      await read(sandbox),
      await together(sandbox),
      ...(await search(sandbox, { folder: "large", files: FILES, rounds: 15 })),
      ...(await search(sandbox, { folder: "small", files: SMALL, rounds: 60 })),
    ];
  } finally {
    await sandbox.close();
  }
}

/** Folders of 25 files, one in a hundred with a line that is searched for. */
async function plant(folder, files) {
  for (let first = 0; first < files; first += 25) {
    const inside = join(folder, `part${first % 40}`, `module${first}`);
    await mkdir(inside, { recursive: true });
    const numbers = Array.from({ length: Math.min(25, files - first) }, (_, at) => first + at);
    await Promise.all(numbers.map((number) => writeFile(join(inside, nameOf(number)), textOf(number))));
  }
}

function nameOf(number) {
  return `file${number}.${number % 3 === 0 ? "js" : "ts"}`;
}

function textOf(number) {
  const lines = "export const value = 1;\nfunction work() {}\n".repeat(8);
  return number % 100 === 0 ? `${lines}const needle = ${number};\n` : lines;
}

async function read(sandbox) {
  const { read: times } = await interleave(
    { read: () => repeated(() => call(sandbox, "read", { path: "small.txt" })) },
    { rounds: 30, warmUp: 10 },
  );
  const shown = figures(times);
  return {
    name: "`read` of a small file",
    ...{ value: shown.p50, unit: "ms", ratio: null },
    limit: "≤ 1 ms",
    holds: shown.p50 <= 1,
    raw: { read_ms: shown },
  };
}

async function repeated(action) {
  const times = [];
  for (let count = 0; count < 10; count++) times.push(await timed(action));
  return times;
}

/** As a run makes them: eight at a time at most. */
async function together(sandbox) {
  const paths = Array.from({ length: 20 }, (_, at) => `large/part0/module0/${nameOf(at)}`);
  const one = (path) => call(sandbox, "read", { path });
  const lanes = (count) => async () => {
    const waiting = [...paths];
    const lane = async () => {
      for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) await one(path);
    };
    await Promise.all(Array.from({ length: count }, lane));
  };
  const times = await interleave({ together: lanes(8), in_a_row: lanes(1) }, { rounds: 40, warmUp: 5 });
  const [parallel, row] = [figures(times.together), figures(times.in_a_row)];
  const ratio = round(parallel.p50 / row.p50);
  return {
    name: "20 reads, eight at a time; ratio: the same in a row",
    ...{ value: parallel.p50, unit: "ms", ratio },
    limit: "< 1 ×",
    holds: ratio < 1,
    raw: { together_ms: parallel, in_a_row_ms: row },
  };
}

/** Both sides are whole calls: what starts rg is most of the time where it has little to do. */
async function search(sandbox, { folder, files, rounds }) {
  const hand = (args) => () => call(sandbox, "bash", { command: `rg ${SAME.join(" ")} ${args} ${folder}` });
  const alone = (args) => () => withoutTheCall(sandbox, `${args} ${folder}`);
  const times = await interleave(
    {
      ...own(sandbox, folder),
      ...{ rg: hand("-n needle"), rg_files: hand("--files") },
      ...{ alone: alone("-n needle"), alone_files: alone("--files") },
    },
    { rounds, warmUp: 3 },
  );
  const name = `in ${files} files; ratio: the same rg by \`bash\``;
  return [
    row(`\`grep\` ${name}`, { call: times.grep, rg: times.rg, rg_alone: times.alone }),
    row(`\`find\` ${name}`, { call: times.find, rg: times.rg_files, rg_alone: times.alone_files }),
  ];
}

function own(sandbox, path) {
  return {
    grep: () => call(sandbox, "grep", { pattern: "needle", path, limit: 10_000 }),
    find: () => call(sandbox, "find", { pattern: "*.ts", path }),
  };
}

/** The search alone, timed by the shell that starts it. */
async function withoutTheCall(sandbox, args) {
  const timedRg = `from=$EPOCHREALTIME; rg ${SAME.join(" ")} ${args} >/tmp/found; to=$EPOCHREALTIME`;
  const { content } = await call(sandbox, "bash", { command: `${timedRg}; echo $from $to` });
  const [from, to] = content[0].text.trim().split(" ").map(Number);
  return (to - from) * 1000;
}

function row(name, { call: own, rg, rg_alone }) {
  const [shown, hand, alone] = [own, rg, rg_alone].map(figures);
  const ratio = round(shown.p50 / hand.p50);
  return {
    name,
    ...{ value: shown.p50, unit: "ms", ratio },
    limit: "≤ 1.2 ×",
    holds: ratio <= 1.2,
    raw: { call_ms: shown, rg_ms: hand, rg_alone_ms: alone },
  };
}
