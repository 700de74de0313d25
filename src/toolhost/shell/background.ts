import type { Outcome } from "../../protocol/messages.ts";
import { outcome } from "../outcomes.ts";
import { showJob } from "./job-call.ts";
import { reachWords } from "./job-words.ts";
import { prepare, type ShellParts, startOnPipe } from "./parts.ts";
import { within } from "./process-run.ts";
import { readProcess } from "./process-table.ts";
import { RotatingLog } from "./rotating-log.ts";
import { resultText } from "./words.ts";

/** A server with a typing error is dead by then, and the model learns of it at once instead of one call later. */
const EARLY_END_MS = 150;

/** Starts a command as a job with a log of its own. It sees the shell's state and changes nothing of it. */
export async function startBackground(
  parts: ShellParts,
  command: { text: string; notes: readonly string[] },
  call: number,
): Promise<Outcome> {
  const { id, folder, log: path } = parts.jobs.reserve();
  const prepared = await prepare(parts, () => parts.memory.prepare(command.text, folder, false));
  const { running, pipe, notes: startNotes } = await startOnPipe(parts, prepared.program);
  const log = RotatingLog.create(path, parts.hello.maxOutputFileBytes);
  running.output.on("data", (chunk: Buffer) => log.write(chunk));
  const closed = running.drained.then(() => log.close());
  const main = readProcess(running.pid) ?? { pid: running.pid, ppid: process.pid, sid: running.pid, started: "0" };
  const settled = running.exited.then((exit) => parts.jobs.settle(id, exit));
  const over = Promise.all([settled, closed]);
  const job = parts.jobs.add(
    { id, command: command.text, processes: [main], call, log: path },
    { log, over, own: prepared },
  );
  parts.pipes.retire(pipe);

  const unlogged = log.isOpen ? [] : ["its output cannot be kept: no file could be made for it"];
  const notices = [...command.notes, ...prepared.notes, ...startNotes, ...unlogged];
  const details = { job_id: id, output_path: path };
  if (!(await within(running.exited, EARLY_END_MS))) {
    const words = `job ${id} runs in the background: pid ${running.pid}, output in ${path}; ${reachWords(id)}`;
    return outcome("ok", resultText("", [...notices, words]), details);
  }
  const shown = await showJob(parts, job, notices);
  return { ...shown, status: (await running.exited).code === 0 ? "ok" : "failed" };
}
