import type { Job } from "../shell/job-record.ts";
import { prepare, type ShellParts, startOnPipe } from "../shell/parts.ts";
import { readProcess } from "../shell/process-table.ts";
import { RotatingLog } from "../shell/rotating-log.ts";

/**
 * Starts a command on a terminal of its own, as a job. It sees the shell's state and changes nothing of it. The terminal
 * is held by a program of the runtime, which hangs up when we are gone.
 */
export async function startTerminal(
  parts: ShellParts,
  command: { text: string; notes: readonly string[] },
  call: number,
): Promise<{ job: Job; notices: readonly string[] }> {
  const { jobs, hello } = parts;
  const { id, folder, log: path } = jobs.reserve();
  const prepared = await prepare(parts, () => parts.memory.prepare(command.text, folder, false));
  const { file, args, ...place } = prepared.program;
  const program = { ...place, file: hello.programs.terminal, args: [file, ...args], takesInput: true as const };
  const { running, pipe, notes } = await startOnPipe(parts, program);
  const log = RotatingLog.create(path, hello.maxOutputFileBytes);
  running.output.on("data", (chunk: Buffer) => log.write(chunk));
  const { pid, input } = running;
  const main = readProcess(pid) ?? { pid, ppid: process.pid, sid: pid, started: "0" };
  const settled = running.exited.then((exit) => jobs.settle(id, exit));
  const over = Promise.all([settled, running.drained]).then(() => log.close());
  const output = { log, over, own: prepared, ...(input && { input }) };
  const job = jobs.add({ id, command: command.text, processes: [main], call, log: path, terminal: pid }, output);
  parts.pipes.retire(pipe);
  const unlogged = log.isOpen ? [] : ["its output cannot be kept: no file could be made for it"];
  return { job, notices: [...command.notes, ...prepared.notes, ...notes, ...unlogged] };
}
