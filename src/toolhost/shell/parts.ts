import { setTimeout as sleep } from "node:timers/promises";
import { systemCode } from "../../core/errors.ts";
import type { Hello } from "../../protocol/messages.ts";
import type { OwnLimits } from "../own-limits.ts";
import type { Cgroup } from "./cgroup.ts";
import type { JobTable } from "./jobs.ts";
import type { Prepared, ShellMemory } from "./memory.ts";
import type { OutputFolder } from "./output-folder.ts";
import { killAll, type Targets } from "./process-kill.ts";
import type { OutputPipe, PipeMaker } from "./process-pipe.ts";
import { type Program, type Running, start } from "./process-run.ts";
import type { ProcessScope } from "./process-scope.ts";
import { keyOf, type Proc } from "./process-table.ts";

/** What the parts of one shell share. */
export type ShellParts = {
  hello: Hello;
  scope: ProcessScope;
  memory: ShellMemory;
  pipes: PipeMaker;
  jobs: JobTable;
  outputs: OutputFolder;
  cgroup: Cgroup;
  limits: OwnLimits;
};

/** Processes of the running call: all of the session's but the jobs'. */
export function callProcesses({ scope, jobs }: ShellParts): Proc[] {
  const live = scope.session();
  const owned = jobs.owned(live);
  return live.filter((proc) => !owned.has(keyOf(proc)));
}

/** The processes of `list` for {@link killAll}, which may stop others for a moment where that is the only way. */
export function endable({ scope }: ShellParts, list: () => Proc[]): Targets {
  const { stopAll, continueAll } = scope;
  return { list, ...(stopAll && continueAll && { stopAll, continueAll }) };
}

/** How long a folder that was spoilt before is watched for someone who goes on doing so. */
const WATCH_MS = 30;

/**
 * Lays a command out; on a full disk what is kept makes room, and where a job keeps spoiling our folder the jobs are
 * ended, since without a command nothing could be removed or ended at all.
 */
export async function prepare(parts: ShellParts, layOut: () => Prepared): Promise<Prepared> {
  const { memory, scope } = parts;
  try {
    const prepared = layOut();
    if (!memory.spoilt || scope.session().length === 0) return prepared;
    await sleep(WATCH_MS);
    if (memory.isIntact(prepared)) return prepared;
  } catch (thrown) {
    if (systemCode(thrown) === "ENOSPC") return prepareOnFull(parts, layOut);
    if (scope.session().length === 0) throw thrown;
  }
  const ended = await endJobs(parts);
  return withNote(layOut(), `something keeps spoiling the folder of the shell's own files, so ${ended}`);
}

/** What is kept goes first; where that is not enough, jobs whose logs take the room are ended. */
async function prepareOnFull(parts: ShellParts, layOut: () => Prepared): Promise<Prepared> {
  makeRoom(parts);
  try {
    return withNote(layOut(), roomWords(parts));
  } catch (thrown) {
    if (systemCode(thrown) !== "ENOSPC" || parts.scope.session().length === 0) throw thrown;
  }
  const ended = await endJobs(parts);
  makeRoom(parts);
  return withNote(layOut(), `${roomWords(parts)}; that was not enough, so ${ended}`);
}

/** Removes what is kept of what was printed: outputs of commands, logs of ended jobs, the older half of other logs. */
export function makeRoom({ outputs, jobs, scope }: ShellParts): void {
  jobs.owned(scope.session());
  outputs.clear();
  jobs.clearLogs();
}

export function roomWords({ hello }: ShellParts): string {
  return `the file system of ${hello.state} was full, so the outputs kept there and the logs of ended jobs were removed`;
}

function withNote(prepared: Prepared, note: string): Prepared {
  return { ...prepared, notes: [...prepared.notes, note] };
}

/** Ends all that runs, and says what became of it; nothing is claimed that was not looked at. */
async function endJobs(parts: ShellParts): Promise<string> {
  const { left } = await killAll(endable(parts, () => parts.scope.session()));
  return left === 0
    ? "all background jobs were ended before this command"
    : `the background jobs were to be ended, but ${left} processes still live`;
}

export type Started = { running: Running; pipe: OutputPipe; notes: string[] };

/** The dead leave the table when process 1 has reaped them, a moment after they are gone. */
const REAPED_MS = 2000;
const RETRY_MS = 20;

/**
 * Starts a program on a fresh pipe. When no process can be started any more, jobs are ended to make room, since without
 * a shell the model could not end them itself.
 */
export async function startOnPipe(parts: ShellParts, program: Program): Promise<Started> {
  try {
    return { ...(await startOnce(parts, program)), notes: [] };
  } catch (thrown) {
    if (systemCode(thrown) !== "EAGAIN") throw thrown;
    const notes =
      parts.scope.session().length > 0 ? [`no process could be started any more, so ${await endJobs(parts)}`] : [];
    return { ...(await startWhenReaped(parts, program)), notes };
  }
}

async function startWhenReaped(parts: ShellParts, program: Program): Promise<Omit<Started, "notes">> {
  for (const deadline = performance.now() + REAPED_MS; ; ) {
    try {
      return await startOnce(parts, program);
    } catch (thrown) {
      if (systemCode(thrown) !== "EAGAIN" || performance.now() > deadline) throw thrown;
      await sleep(RETRY_MS);
    }
  }
}

const NO_FOLDER = ["ENOENT", "ENOTDIR"];

async function startOnce(parts: ShellParts, program: Program): Promise<Omit<Started, "notes">> {
  const pipe = await parts.pipes.take();
  try {
    const running = await start(program, pipe);
    parts.scope.adopt(running.pid);
    void running.exited.then(() => parts.scope.release(running.pid));
    return { running, pipe };
  } catch (thrown) {
    if (NO_FOLDER.includes(systemCode(thrown) ?? "")) parts.memory.spoilt = true;
    parts.pipes.give(pipe);
    throw thrown;
  }
}
