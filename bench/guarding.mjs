import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { figures, interleave, round } from "./measure.mjs";
import { call, openSandbox } from "./place.mjs";

const FOLDERS = 500;
const FILES = 100;
/** Long enough for the ticks of a processor's time, which are 10 ms. */
const WATCH_SECONDS = 10;

/** What it costs to look for files with names outside, once a session, and to wait for the next call. */
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
      name: "tool host between calls: share of a processor",
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

/** Two calls with nothing between them; the tool host is the parent of each command. */
async function watchShare(place) {
  const sandbox = await openSandbox(place);
  const ticks = async () => {
    const { content } = await call(sandbox, "bash", { command: "awk '{print $14 + $15}' /proc/$PPID/stat" });
    return Number.parseInt(content.map(({ text }) => text).join(""), 10);
  };
  try {
    await ticks();
    const before = await ticks();
    await new Promise((resolve) => setTimeout(resolve, WATCH_SECONDS * 1000));
    return round(((await ticks()) - before) / WATCH_SECONDS, 2);
  } finally {
    await sandbox.close();
  }
}
