import { join } from "node:path";
import { clip } from "../../core/truncate.ts";
import { visibleLine } from "../../core/visible.ts";
import { withDescendants } from "./process-scope.ts";
import { commandLine, keyOf, type Proc } from "./process-table.ts";
import { discard, ensureFolder, moveFile, putFile, takeFile, tryTo } from "./state-folder.ts";

/** Processes that outlive the call that started them, until they end or the session does. */
export type Job = {
  id: number;
  command: string;
  /** What lives of it, as last seen; empty once it has ended. */
  processes: Proc[];
  /** The number of the call that made it; absent when that is not known any more. */
  call?: number;
  /** Where its output goes; absent when the command sent it elsewhere. */
  log?: string;
};

/** Jobs kept on record after they ended. */
const MAX_ENDED = 20;
const NAME_CHARS = 60;
/** More than this is a fork bomb: half of the processes a container may have by default. */
const MAX_GROWN = 256;
const MAX_RECORD_BYTES = 4 * 1024 * 1024;
const MAX_NAMED = 3;

/** The session's jobs, written down at every change so that a restarted tool host neither kills nor loses one. */
export class JobTable {
  readonly #state: string;
  readonly #folder: string;
  readonly #file: string;
  #jobs: Job[];
  #last: number;

  constructor(state: string) {
    this.#state = state;
    this.#folder = join(state, "jobs");
    tryTo(() => ensureFolder(state, this.#folder));
    this.#file = join(this.#folder, "jobs.json");
    this.#jobs = readJobs(this.#file);
    this.#last = Math.max(0, ...this.#jobs.map((job) => job.id));
  }

  /** An id and a folder of its own for a job that is about to begin. */
  reserve(): { id: number; folder: string; log: string } {
    this.#last++;
    const folder = this.#folderOf(this.#last);
    // Who writes there finds out, and says so.
    tryTo(() => ensureFolder(this.#state, folder));
    return { id: this.#last, folder, log: join(folder, "log") };
  }

  add(job: Job): void {
    this.#jobs.push({ ...job, command: clip(job.command, NAME_CHARS) });
    this.#write();
  }

  /** Which of `live` belong to jobs, by descent or session; learns new ones on the way. */
  owned(live: readonly Proc[]): Set<string> {
    const owned = new Set<string>();
    for (const job of this.#jobs) {
      const known = new Set(job.processes.map(keyOf));
      const mine = live.filter((proc) => known.has(keyOf(proc)));
      const sids = new Set(mine.map((proc) => proc.sid));
      const family = withDescendants(new Set(mine.map((proc) => proc.pid)), live);
      job.processes = live.filter((proc) => family.has(proc.pid) || sids.has(proc.sid));
      for (const proc of job.processes) owned.add(keyOf(proc));
    }
    return owned;
  }

  /** Takes processes that were there before a call began, and so are not its own, for the newest job. */
  claim(strays: readonly Proc[]): void {
    this.#jobs.at(-1)?.processes.push(...strays);
  }

  /** Processes of jobs that have grown beyond what any job needs, as last seen by {@link owned}. */
  overgrown(live: readonly Proc[]): { ids: number[]; keys: Set<string> } {
    const alive = new Set(live.map(keyOf));
    const large = this.#jobs
      .map((job) => ({ id: job.id, keys: job.processes.map(keyOf).filter((key) => alive.has(key)) }))
      .filter(({ keys }) => keys.length > MAX_GROWN);
    return { ids: large.map(({ id }) => id), keys: new Set(large.flatMap(({ keys }) => keys)) };
  }

  /** Whether a job was alive when it was last looked at. */
  get anyAlive(): boolean {
    return this.#jobs.some((job) => job.processes.length > 0);
  }

  /** The call that made the newest job that was alive then. */
  get latestCall(): number | undefined {
    return this.#jobs.findLast((job) => job.processes.length > 0)?.call;
  }

  /** The call that made the job of a process, by what {@link owned} saw last. */
  callOf(proc: Proc): number | undefined {
    const key = keyOf(proc);
    return this.#jobs.find((job) => job.processes.some((known) => keyOf(known) === key))?.call;
  }

  /** Whether there was any job at all. */
  get any(): boolean {
    return this.#jobs.length > 0;
  }

  /** One line a job: id, pids that still live, command, log. Empty without jobs. */
  describe(live: readonly Proc[]): string {
    const alive = new Set(live.map(keyOf));
    return this.#jobs
      .map((job) => {
        const pids = job.processes.filter((proc) => alive.has(keyOf(proc))).map((proc) => proc.pid);
        const state = pids.length > 0 ? `running, pid ${pids.join(" ")}` : "ended";
        return `job ${job.id}: ${state}: ${visibleLine(job.command)}${job.log === undefined ? "" : `; log ${job.log}`}`;
      })
      .join("\n");
  }

  #write(): void {
    const ended = this.#jobs.filter((job) => job.processes.length === 0);
    const old = ended.slice(0, -MAX_ENDED);
    this.#jobs = this.#jobs.filter((job) => !old.includes(job));
    try {
      ensureFolder(this.#state, this.#folder);
      for (const job of old) discard(this.#folderOf(job.id));
      putFile(`${this.#file}.new`, JSON.stringify(this.#jobs), "utf8");
      moveFile(`${this.#file}.new`, this.#file);
    } catch {
      // On a full disk, or a spoilt one, the job runs on; only a tool host started after this one would not know it.
    }
  }

  #folderOf(id: number): string {
    return join(this.#folder, String(id));
  }
}

/** How a model is told of processes that go on: three of them by name. */
export function namesOf(processes: readonly Proc[]): string {
  const shown = processes.slice(0, MAX_NAMED).map((proc) => `pid ${proc.pid} (${nameOf(proc)})`);
  const more = processes.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

/** The command that ends them: by pid, or many at once by the process group that a call's processes share. */
export function killWords(processes: readonly Proc[]): string {
  const groups = new Set(processes.map((proc) => proc.sid));
  const many = processes.length > MAX_NAMED;
  return many
    ? `kill -- ${[...groups].map((sid) => `-${sid}`).join(" ")}`
    : `kill ${processes.map((proc) => proc.pid).join(" ")}`;
}

function nameOf(proc: Proc): string {
  return visibleLine(clip(commandLine(proc.pid), NAME_CHARS)) || "ended";
}

/** Another process of the agent could have changed the file, so what does not look like a job is no job. */
function readJobs(file: string): Job[] {
  try {
    const stored: unknown = JSON.parse(takeFile(file, MAX_RECORD_BYTES)?.toString("utf8") ?? "");
    return Array.isArray(stored) ? stored.flatMap(asJob) : [];
  } catch {
    return [];
  }
}

function asJob(stored: unknown): Job[] {
  const { id, command, processes, call, log } = Object(stored) as Partial<Record<keyof Job, unknown>>;
  if (!Number.isSafeInteger(id) || typeof command !== "string" || !Array.isArray(processes)) return [];
  const known = processes.flatMap((proc: Partial<Proc> | null) =>
    Number.isSafeInteger(proc?.pid) && Number.isSafeInteger(proc?.sid) && typeof proc?.started === "string"
      ? [{ pid: Number(proc.pid), ppid: 1, sid: Number(proc.sid), started: proc.started }]
      : [],
  );
  return [
    {
      id: Number(id),
      command,
      processes: known,
      ...(isCallNumber(call) && { call }),
      ...(typeof log === "string" && { log }),
    },
  ];
}

/** As the protocol has them; another would end the channel. */
function isCallNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 0x7fffffff;
}
