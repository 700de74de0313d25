import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";

const ANSWER_MS = 5_000;
const PAUSE_MS = 250;

/** Resolves when the engine answers; rejects with its last failure after `withinMs`, or once `signal` aborts. */
export async function untilAnswers(docker: Docker, withinMs: number, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
      return void (await docker.listContainers({ limit: 1, abortSignal }));
    } catch (error) {
      if (signal.aborted || performance.now() > deadline) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
