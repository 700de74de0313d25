import { figures, round, timed, watchMemory } from "./measure.mjs";
import { call, openSandbox } from "./place.mjs";

const LINE_BYTES = 300_000_000;
const LINES_LIMIT_MS = 1000;
const GROWTH_LIMIT_MIB = 64;
const MIB = 1024 * 1024;

/** Much output from one command: how long it takes until the result is there, and what it costs in memory. */
export async function output(place) {
  const sandbox = await openSandbox(place);
  try {
    await call(sandbox, "bash", { command: "seq 100000" });
    return [await longLine(sandbox), await manyLines(sandbox)];
  } finally {
    await sandbox.close();
  }
}

async function manyLines(sandbox) {
  const times = [];
  for (let count = 0; count < 10; count++) {
    times.push(await timed(async () => told(await call(sandbox, "bash", { command: "seq 1000000" }), 6_888_896)));
  }
  const ms = figures(times);
  return {
    name: "a million lines of output, `seq 1000000`",
    ...{ value: ms.p50, unit: "ms", ratio: null, limit: `≤ ${LINES_LIMIT_MS} ms` },
    holds: ms.p50 <= LINES_LIMIT_MS,
    raw: { call_ms: ms },
  };
}

async function longLine(sandbox) {
  const before = process.memoryUsage().rss;
  const watch = watchMemory();
  const command = `head -c ${LINE_BYTES} /dev/zero | tr '\\0' x`;
  const ms = await timed(async () => told(await call(sandbox, "bash", { command, timeout: 600 }), LINE_BYTES));
  const growth = round((watch.stop() - before) / MIB, 1);
  return {
    name: "one line of 300 MB from one command, growth of the controller",
    ...{ value: growth, unit: "MiB", ratio: null, limit: `≤ ${GROWTH_LIMIT_MIB} MiB, the cut is told` },
    holds: growth <= GROWTH_LIMIT_MIB,
    raw: { before_mib: round(before / MIB, 1), seconds: round(ms / 1000) },
  };
}

/** A result that does not say what it left out is no result. */
function told({ truncated, details }, bytes) {
  if (truncated !== true || details.output_bytes !== bytes)
    throw new Error(`The cut is not told: ${details.output_bytes}`);
}
