import { round, watchMemory } from "./measure.mjs";
import { call, openSandbox } from "./place.mjs";

const BYTES = 1_000_000_000;
const LIMIT_MIB = 64;
const MIB = 1024 * 1024;

/** The controller's memory while one command prints a gigabyte: this process is the controller. */
export async function flood(place) {
  const sandbox = await openSandbox(place);
  try {
    await call(sandbox, "bash", { command: "seq 100000" });
    const before = process.memoryUsage().rss;
    const watch = watchMemory();
    const startedAt = performance.now();
    const result = await call(sandbox, "bash", { command: `yes | head -c ${BYTES}`, timeout: 600 });
    const ms = performance.now() - startedAt;
    const growth = round((watch.stop() - before) / MIB, 1);
    const isTold = result.truncated === true && result.details.output_bytes === BYTES;
    return [
      {
        name: "1 GB of output from one command, growth of the controller",
        ...{ value: growth, unit: "MiB", ratio: null, limit: `≤ ${LIMIT_MIB} MiB, the cut is told` },
        holds: growth <= LIMIT_MIB && isTold,
        raw: { before_mib: round(before / MIB, 1), seconds: round(ms / 1000), told: isTold, words: wordsOf(result) },
      },
    ];
  } finally {
    await sandbox.close();
  }
}

/** The end of what the model reads. */
function wordsOf({ content }) {
  return content
    .map((part) => part.text ?? "")
    .join("")
    .slice(-200);
}
