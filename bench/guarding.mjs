import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { figures, interleave, round } from "./measure.mjs";
import { call, openSandbox } from "./place.mjs";

const FOLDERS = 500;
const FILES = 100;
/** Long enough for the ticks of a processor's time, which are 10 ms. */
const WATCH_SECONDS = 10;

/** What it costs to look for files with names outside, once a session, and to watch the mounts all the time. */
export async function guarding(place) {
  const workspace = join(place.folder, "many");
  await fill(workspace);
  const first = (protectLinks) => async () => {
    const sandbox = await openSandbox({ ...place, workspace }, { protectLinks });
    try {
      const startedAt = performance.now();
      await call(sandbox, "bash", { command: "true" });
      return performance.now() - startedAt;
    } finally {
      await sandbox.close();
    }
  };
  const actions = { with_scan: first("before_writing"), without: first("never") };
  const times = await interleave(actions, { rounds: 7, warmUp: 1 });
  const [scanned, plain] = [figures(times.with_scan), figures(times.without)];
  const scanMs = round(scanned.p50 - plain.p50);
  const share = await watchShare(place);
  return [
    {
      name: `looking for hard links out of a workspace of ${FOLDERS * FILES} files, once a session`,
      ...{ value: scanMs, unit: "ms", ratio: null },
      ...{ limit: "≤ 300 ms", holds: scanMs <= 300, raw: { first_call_ms: scanned, without_scan_ms: plain } },
    },
    {
      name: "tool host that waits: share of a processor, watching mounts included",
      ...{ value: share, unit: "%", ratio: null },
      ...{ limit: "≤ 1 %", holds: share <= 1, raw: { seconds: WATCH_SECONDS } },
    },
  ];
}

async function fill(workspace) {
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = join(workspace, `d${folder}`);
    await mkdir(path, { recursive: true });
    await Promise.all(Array.from({ length: FILES }, (_, file) => writeFile(join(path, `f${file}`), "x")));
  }
}

/** The tool host is what runs `cut`'s parent's parent: read from inside, as its own user, without touching it. */
async function watchShare(place) {
  const sandbox = await openSandbox(place);
  try {
    const ticks = "awk '{print $14 + $15}' /proc/$PPID/stat";
    const command = `a=$(${ticks}); sleep ${WATCH_SECONDS}; b=$(${ticks}); echo $((b - a))`;
    const { content } = await call(sandbox, "bash", { command });
    return round(Number.parseInt(content.map(({ text }) => text).join(""), 10) / WATCH_SECONDS, 2);
  } finally {
    await sandbox.close();
  }
}
