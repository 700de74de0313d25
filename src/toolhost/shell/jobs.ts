import { join } from "node:path";
import type { Writable } from "node:stream";
import { clip } from "../../core/truncate.ts";
import { type Job, readJobs } from "./job-record.ts";
import type { Exit } from "./process-run.ts";
import { withDescendants } from "./process-scope.ts";
import { keyOf, type Proc } from "./process-table.ts";
import { RotatingLog } from "./rotating-log.ts";
import { discard, ensureFolder, moveFile, putFile, tryTo } from "./state-folder.ts";
import type { Own } from "./words.ts";

/** What a job prints, and how it is reached, as long as the tool host that started it lives. */
export type JobOutput = {
  log: RotatingLog;
  /** Bytes of the log that the model has been shown. */
  shown: number;
  /** Settles when nothing more can come. */
  over: Promise<unknown>;
  isOver: boolean;
  /** What of its output is ours; absent when nothing is. */
  own?: Own;
  /** Types into its terminal. */
  input?: Writable;
  /** Started by a tool host that is no more. */
  isInherited: boolean;
};

/** Jobs kept on record after they ended. */
const MAX_ENDED = 20;
const NAME_CHARS = 60;
/** More than this is a fork bomb: half of the processes a container may have by default. */
const MAX_GROWN = 256;

/** The session's jobs, written down at every change so that a restarted tool host neither kills nor loses one. */
export class JobTable {
  readonly #state: string;
  readonly #folder: string;
  readonly #file: string;
  readonly #outputs = new Map<number, JobOutput>();
  #jobs: Job[];
  #last: number;

  constructor(state: string) {
    this.#state = state;
    this.#folder = join(state, "jobs");
    tryTo(() => ensureFolder(state, this.#folder));
    this.#file = join(this.#folder, "jobs.json");
    this.#jobs = readJobs(this.#file);
    this.#last = Math.max(0, ...this.#jobs.map((job) => job.id));
    for (const { id, log } of this.#jobs) if (log !== undefined) this.#outputs.set(id, inherited(log));
  }

  /** An id and a folder of its own for a job that is about to begin. */
  reserve(): { id: number; folder: string; log: string } {
    this.#last++;
    const folder = this.#folderOf(this.#last);
    // Who writes there finds out, and says so.
    tryTo(() => ensureFolder(this.#state, folder));
    return { id: this.#last, folder, log: join(folder, "log") };
  }

  /** Takes a job that runs from now on. `output` is absent for one whose output goes elsewhere. */
  add(job: Omit<Job, "begun">, output?: Pick<JobOutput, "log" | "over" | "own" | "input">): Job {
    const added: Job = { ...job, command: clip(job.command, NAME_CHARS), begun: Date.now() };
    this.#jobs.push(added);
    if (output) {
      const kept: JobOutput = { ...output, shown: 0, isOver: false, isInherited: false };
      this.#outputs.set(job.id, kept);
      void output.over.then(() => {
        kept.isOver = true;
      });
    }
    this.#write();
    return added;
  }

  /** Notes how the main process of a job ended. */
  settle(id: number, exit: Exit): void {
    const job = this.find(id);
    if (job === undefined) return;
    job.exit = exit;
    job.ended = Date.now();
    this.#write();
  }

  get all(): readonly Job[] {
    return this.#jobs;
  }

  find(id: number): Job | undefined {
    return this.#jobs.find((job) => job.id === id);
  }

  outputOf(id: number): JobOutput | undefined {
    return this.#outputs.get(id);
  }

  /** Which of `live` belong to jobs, by descent or session; learns new ones on the way. */
  owned(live: readonly Proc[]): Set<string> {
    const owned = new Set<string>();
    for (const job of this.#jobs) {
      const known = new Set(job.processes.map(keyOf));
      const mine = live.filter((proc) => known.has(keyOf(proc)));
      // Also of those that are gone: what they started since the last look is known by nothing else.
      const sids = new Set(job.processes.map((proc) => proc.sid));
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

  /** Removes the logs of jobs that have ended, and the older half of the others'. */
  clearLogs(): void {
    for (const { log, processes } of this.#jobs) {
      if (log === undefined) continue;
      tryTo(() => discard(`${log}.old`));
      if (processes.length === 0) tryTo(() => discard(log));
    }
  }

  #write(): void {
    const ended = this.#jobs.filter((job) => job.processes.length === 0);
    const old = ended.slice(0, -MAX_ENDED);
    this.#jobs = this.#jobs.filter((job) => !old.includes(job));
    try {
      ensureFolder(this.#state, this.#folder);
      for (const job of old) {
        this.#outputs.delete(job.id);
        discard(this.#folderOf(job.id));
      }
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

function inherited(path: string): JobOutput {
  return { log: RotatingLog.left(path), shown: 0, over: Promise.resolve(), isOver: true, isInherited: true };
}
