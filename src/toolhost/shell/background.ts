import type { Outcome } from "../../protocol/messages.ts";
import { outcome } from "../outcomes.ts";
import { showJob } from "./job-call.ts";
import { type JobCommand, startJob } from "./job-start.ts";
import { reachWords } from "./job-words.ts";
import type { ShellParts } from "./parts.ts";
import { within } from "./process-run.ts";
import { resultText } from "./words.ts";

/** A server with a typing error is dead by then, and the model learns of it at once instead of one call later. */
const EARLY_END_MS = 150;

/** Runs a command as a job, and answers as soon as it is on its way. */
export async function startBackground(parts: ShellParts, command: JobCommand): Promise<Outcome> {
  const { job, running, notices } = await startJob(parts, command);
  if (await within(running.exited, EARLY_END_MS)) {
    const shown = await showJob(parts, job, notices);
    return { ...shown, status: (await running.exited).code === 0 ? "ok" : "failed" };
  }
  const { id, log } = job;
  const words = `job ${id} runs in the background: pid ${running.pid}, output in ${log}; ${reachWords(id)}`;
  return outcome("ok", resultText("", [...notices, words]), { job_id: id, output_path: log });
}
