import { setTimeout as sleep } from "node:timers/promises";
import { keyOf, type Proc } from "./process-table.ts";

/** Time a process has between SIGTERM and SIGKILL. */
const GRACE_MS = 300;
const POLL_MS = 10;
/** A new process can be missed by one look: the table is not read at one moment. */
const QUIET_LOOKS = 3;
/** What honest programs start is frozen by then; the rest is a fork bomb. */
const FREEZE_ROUNDS = 10;
/** Above this nobody waits for handlers of SIGTERM: a bomb would use the time to grow again. */
const MAX_POLITE = 64;
const KILL_MS = 5000;

/** Processes to be ended, looked up anew each time. */
export type Targets = {
  list(): Proc[];
  /** Stops at one moment all that runs as our user but ourselves, also what is no target; absent where that is too much. */
  stopAll?: () => void;
  /** Lets go on what `stopAll` stopped. */
  continueAll?: () => void;
};

/** `ended`: how many different ones were found; `left`: how many of them still live. */
export type Killed = { ended: number; left: number };

/**
 * Ends all targets: STOP until no new one appears (so that nothing is forked between listing and killing), TERM, CONT,
 * 300 ms, STOP, KILL, looked at until none is left. `left` is 0 unless one hangs in the kernel for 5 s.
 */
export async function killAll(targets: Targets): Promise<Killed> {
  const seen = new Set<string>();
  try {
    const frozen = freeze(targets, seen);
    if (frozen.length === 0) return { ended: 0, left: 0 };
    if (frozen.length <= MAX_POLITE) await askToEnd(frozen, targets);
    const left = await kill(targets, seen);
    return { ended: seen.size - left, left };
  } finally {
    if (seen.size > MAX_POLITE) targets.continueAll?.();
  }
}

async function askToEnd(frozen: readonly Proc[], targets: Targets): Promise<void> {
  for (const proc of frozen) {
    send(proc, "SIGTERM");
    send(proc, "SIGCONT");
  }
  const deadline = performance.now() + GRACE_MS;
  while (performance.now() < deadline && targets.list().length > 0) await sleep(POLL_MS);
}

/** SIGKILL reaches a stopped process too, so all that was found dies; only what was forked meanwhile needs another round. */
async function kill(targets: Targets, seen: Set<string>): Promise<number> {
  const deadline = performance.now() + KILL_MS;
  for (let quiet = 0; ; ) {
    const left = freeze(targets, seen);
    if (left.length === 0 && ++quiet >= QUIET_LOOKS) return 0;
    if (left.length > 0) quiet = 0;
    if (performance.now() > deadline) return left.length;
    for (const proc of left) send(proc, "SIGKILL");
    if (left.length > 0) await sleep(POLL_MS);
  }
}

/** The targets that stand still now: all there are, unless even stopping everything at once did not help. */
function freeze(targets: Targets, seen: Set<string>): Proc[] {
  const stopped = new Set<string>();
  let found: Proc[] = [];
  for (let round = 0, quiet = 0; round < FREEZE_ROUNDS && quiet < QUIET_LOOKS; round++) {
    found = targets.list();
    const fresh = found.filter((proc) => !stopped.has(keyOf(proc)));
    quiet = fresh.length === 0 ? quiet + 1 : 0;
    if (found.length === 0) return found;
    for (const proc of fresh) {
      stopped.add(keyOf(proc));
      seen.add(keyOf(proc));
      send(proc, "SIGSTOP");
    }
    // The kernel gives a signal to all at once, and a fork that a signal interrupts does not happen.
    if (found.length > MAX_POLITE) targets.stopAll?.();
  }
  return found;
}

export function send(proc: Proc, signal: NodeJS.Signals): void {
  try {
    process.kill(proc.pid, signal);
  } catch {
    // Gone since it was listed.
  }
}
