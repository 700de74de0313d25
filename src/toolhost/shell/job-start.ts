import type { Job } from "./job-record.ts";
import { prepare, type ShellParts, startOnPipe } from "./parts.ts";
import type { Program, Running } from "./process-run.ts";
import { readProcess } from "./process-table.ts";
import { RotatingLog } from "./rotating-log.ts";

export type JobCommand = { text: string; notes: readonly string[]; call: number };

export type StartedJob = { job: Job; running: Running; notices: readonly string[] };

/**
 * Starts a command as a job with a log of its own. It sees the shell's state and changes nothing of it. `terminal`: what
 * holds one for it; its stdin is then what is typed.
 */
export async function startJob(parts: ShellParts, command: JobCommand, terminal?: string): Promise<StartedJob> {
  const { jobs, hello, memory, pipes } = parts;
  const { id, folder, log: path } = jobs.reserve();
  const prepared = await prepare(parts, () => memory.prepare(command.text, folder, false));
  const { running, pipe, notes } = await startOnPipe(parts, onTerminal(prepared.program, terminal));
  const log = RotatingLog.create(path, hello.maxOutputFileBytes);
  running.output.on("data", (chunk: Buffer) => log.write(chunk));
  const { pid, input } = running;
  const main = readProcess(pid) ?? { pid, ppid: process.pid, sid: pid, started: "0" };
  const settled = running.exited.then((exit) => jobs.settle(id, exit));
  const over = Promise.all([settled, running.drained.then(() => log.close())]);
  const job = jobs.add(
    { id, command: command.text, processes: [main], call: command.call, log: path, ...(terminal && { terminal: pid }) },
    { log, over, own: prepared, ...(input && { input }) },
  );
  pipes.retire(pipe);
  const unlogged = log.isOpen ? [] : ["its output cannot be kept: no file could be made for it"];
  return { job, running, notices: [...command.notes, ...prepared.notes, ...notes, ...unlogged] };
}

function onTerminal(program: Program, terminal: string | undefined): Program {
  if (terminal === undefined) return program;
  return { ...program, file: terminal, args: [program.file, ...program.args], takesInput: true };
}
