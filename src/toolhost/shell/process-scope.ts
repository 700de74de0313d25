import { statSync } from "node:fs";
import { IDLE_USER } from "../../core/idle-user.ts";
import { isOfOurUser, keyOf, listProcesses, type Proc } from "./process-table.ts";

/** Decides which processes are the session's: what commands and jobs started, never the tool host or what holds it up. */
export type ProcessScope = {
  /** Says that `pid` is the main process of a command or a job. */
  adopt(pid: number): void;
  /** Says that an adopted main process has ended. */
  release(pid: number): void;
  /** Live processes of the session, jobs included. */
  session(): Proc[];
  /** Stops at one moment whatever runs as our user, but ourselves; absent where others run as the same user. */
  stopAll?(): void;
  continueAll?(): void;
};

/**
 * The scope for a container of its own: the pid namespace is the oracle, so nothing escapes by `setsid`, a double fork
 * or a cleared environment. Throws anywhere else, where it would claim every process of the user.
 */
export function namespaceScope(): ProcessScope {
  requireContainer();
  const adopted = new Set<number>();
  return {
    adopt: (pid) => void adopted.add(pid),
    release: (pid) => void adopted.delete(pid),
    session() {
      const all = listProcesses();
      const spared = ancestorsOf(process.pid, all);
      // A child of ours that was never adopted belongs to another tool, such as the `rg` of a search.
      const foreign = all.filter((proc) => proc.ppid === process.pid && !adopted.has(proc.pid));
      for (const pid of withDescendants(new Set(foreign.map((proc) => proc.pid)), all)) spared.add(pid);
      return all.filter((proc) => proc.pid > 1 && !spared.has(proc.pid) && isOfOurUser(proc.pid));
    },
    stopAll: () => signalAll("SIGSTOP"),
    continueAll: () => signalAll("SIGCONT"),
  };
}

/** kill(2): -1 is every process we may signal, process 1 and ourselves excepted; the pid namespace is the border. */
function signalAll(signal: NodeJS.Signals): void {
  try {
    process.kill(-1, signal);
  } catch {
    // There is none.
  }
}

function requireContainer(): void {
  const { uid } = statSync("/proc/1");
  if (uid === IDLE_USER) return;
  throw new Error(
    `Process 1 belongs to uid ${uid}: this is no container of glovebox, and a tool host runs in nothing else`,
  );
}

const POLL_MS = 20;

/**
 * The scope for tests on a shared machine: descendants of adopted processes and whatever shares a session id with one,
 * remembered by looking every 20 ms. A process that leaves both within one look is missed.
 */
export function descendantScope(): ProcessScope {
  const adopted = new Set<number>();
  let known = new Map<string, Proc>();
  let timer: NodeJS.Timeout | undefined;
  function session(): Proc[] {
    const all = listProcesses();
    const members = new Set(all.filter((proc) => known.has(keyOf(proc)) || adopted.has(proc.pid)).map((p) => p.pid));
    const sids = new Set([...known.values()].map((proc) => proc.sid).concat(...adopted));
    sids.delete(0);
    for (const proc of all) if (sids.has(proc.sid)) members.add(proc.pid);
    const spared = ancestorsOf(process.pid, all);
    const family = withDescendants(members, all);
    const found = all.filter((proc) => family.has(proc.pid) && !spared.has(proc.pid) && isOfOurUser(proc.pid));
    known = new Map(found.map((proc) => [keyOf(proc), proc]));
    return found;
  }
  return {
    adopt(pid) {
      adopted.add(pid);
      timer ??= setInterval(session, POLL_MS).unref();
    },
    release(pid) {
      session();
      adopted.delete(pid);
      if (adopted.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
    session,
  };
}

function ancestorsOf(pid: number, all: readonly Proc[]): Set<number> {
  const parents = new Map(all.map((proc) => [proc.pid, proc.ppid]));
  const line = new Set<number>([0, 1]);
  for (let at: number | undefined = pid; at !== undefined && !line.has(at); at = parents.get(at)) line.add(at);
  return line;
}

/** `roots` and everything below them. */
export function withDescendants(roots: ReadonlySet<number>, all: readonly Proc[]): Set<number> {
  const family = new Set(roots);
  // Pids wrap around, so a child can be listed before its parent: repeat until nothing is added.
  for (let before = -1; before !== family.size; ) {
    before = family.size;
    for (const proc of all) if (family.has(proc.ppid)) family.add(proc.pid);
  }
  return family;
}
