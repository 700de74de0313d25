import { setTimeout as sleep } from "node:timers/promises";
import type { JobOutput } from "../shell/jobs.ts";

/** Output that has not gone on for so long is taken for all there is. */
const QUIET_MS = 200;
const POLL_MS = 20;

/** Waits until there is something new and it has fallen quiet, the job is over, the time is up, or `signal` aborts. */
export async function untilQuiet(output: JobOutput, waitMs: number, signal: AbortSignal): Promise<void> {
  const begun = performance.now();
  for (let now = begun; now < begun + waitMs; now = performance.now()) {
    if (signal.aborted || output.isOver) return;
    const { log, shown } = output;
    if (log.total > shown && now - Math.max(begun, log.writtenAt) >= QUIET_MS) return;
    await sleep(POLL_MS);
  }
}
