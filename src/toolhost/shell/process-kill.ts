import { setTimeout as sleep } from "node:timers/promises";
import { keyOf, type Proc } from "./process-table.ts";

/** Time a process has between SIGTERM and SIGKILL. */
const GRACE_MS = 300;
const POLL_MS = 10;
/** A fork bomb at a limit of 512 processes stands still after 3 rounds; one that does not is killed moving. */
const FREEZE_ROUNDS = 50;
const KILL_ROUNDS = 200;

/**
 * Ends all of `targets()`: STOP until no new one appears (so that nothing is forked between listing and killing), TERM,
 * CONT, 300 ms, STOP, KILL. Resolves to how many are left, which is 0 unless one hangs in the kernel.
 */
export async function killAll(targets: () => Proc[]): Promise<number> {
  for (const proc of freeze(targets)) {
    send(proc, "SIGTERM");
    send(proc, "SIGCONT");
  }
  const deadline = Date.now() + GRACE_MS;
  while (Date.now() < deadline && targets().length > 0) await sleep(POLL_MS);
  freeze(targets);
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const left = targets();
    if (left.length === 0) return 0;
    for (const proc of left) send(proc, "SIGKILL");
    await sleep(POLL_MS);
  }
  return targets().length;
}

function freeze(targets: () => Proc[]): Proc[] {
  const stopped = new Map<string, Proc>();
  for (let round = 0; round < FREEZE_ROUNDS; round++) {
    const fresh = targets().filter((proc) => !stopped.has(keyOf(proc)));
    if (fresh.length === 0) break;
    for (const proc of fresh) {
      stopped.set(keyOf(proc), proc);
      send(proc, "SIGSTOP");
    }
  }
  return [...stopped.values()];
}

function send(proc: Proc, signal: NodeJS.Signals): void {
  try {
    process.kill(proc.pid, signal);
  } catch {
    // Gone since it was listed.
  }
}
