import { systemCode } from "../../core/errors.ts";
import type { Hello } from "../../protocol/messages.ts";
import type { Cgroup } from "./cgroup.ts";
import type { JobTable } from "./jobs.ts";
import type { Prepared, ShellMemory } from "./memory.ts";
import type { OutputFolder } from "./output-folder.ts";
import { killAll } from "./process-kill.ts";
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
};

/** Processes of the running call: all of the session's but the jobs'. */
export function callProcesses({ scope, jobs }: ShellParts): Proc[] {
  const live = scope.session();
  const owned = jobs.owned(live);
  return live.filter((proc) => !owned.has(keyOf(proc)));
}

/** Lays a command out; on a full disk kept outputs make room, since without a command nothing could be removed at all. */
export function prepare({ memory, outputs }: ShellParts, text: string, folder: string, saves: boolean): Prepared {
  try {
    return memory.prepare(text, folder, saves);
  } catch (thrown) {
    if (systemCode(thrown) !== "ENOSPC") throw thrown;
    outputs.clear();
    const prepared = memory.prepare(text, folder, saves);
    const note = "the disk for the shell's own files was full, so the outputs kept from earlier commands were removed";
    return { ...prepared, notes: [...prepared.notes, note] };
  }
}

export type Started = { running: Running; pipe: OutputPipe; notes: string[] };

/**
 * Starts a program on a fresh pipe. When no process can be started any more, jobs are ended to make room, since without
 * a shell the model could not end them itself.
 */
export async function startOnPipe(parts: ShellParts, program: Program): Promise<Started> {
  try {
    return { ...(await startOnce(parts, program)), notes: [] };
  } catch (thrown) {
    if (systemCode(thrown) !== "EAGAIN" || parts.scope.session().length === 0) throw thrown;
    await killAll(() => parts.scope.session());
    const note = "no process could be started any more, so all background jobs were ended before this command";
    return { ...(await startOnce(parts, program)), notes: [note] };
  }
}

async function startOnce(parts: ShellParts, program: Program): Promise<Omit<Started, "notes">> {
  const pipe = await parts.pipes.take();
  try {
    const running = await start(program, pipe);
    parts.scope.adopt(running.pid);
    void running.exited.then(() => parts.scope.release(running.pid));
    return { running, pipe };
  } catch (thrown) {
    parts.pipes.give(pipe);
    throw thrown;
  }
}
