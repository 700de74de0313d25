import type { ToolDetails } from "../../core/tool-result.ts";
import type { Limits } from "../../core/truncate.ts";
import type { Outcome } from "../../protocol/messages.ts";
import { outputLimits } from "../../tools/contract.ts";
import { plural, shownOutcome } from "../notices.ts";
import { outcome } from "../outcomes.ts";
import type { Job } from "./job-record.ts";
import { listLine, stateWords } from "./job-words.ts";
import type { JobOutput } from "./jobs.ts";
import { type Captured, OutputSink } from "./output-sink.ts";
import { endable, type ShellParts } from "./parts.ts";
import { killAll } from "./process-kill.ts";
import { within } from "./process-run.ts";
import type { Proc } from "./process-table.ts";
import { unfinished } from "./unfinished.ts";
import { resultText, shownOutput, withShellName } from "./words.ts";

/** Longer than what has been printed needs to get here; a process that nobody knows of may hold the pipe for ever. */
const LAST_OUTPUT_MS = 500;

/** Answers a call about background jobs: all of them, or one, which may be ended. */
export async function answerJobCall(parts: ShellParts, asked: { job: number; kill: boolean }): Promise<Outcome> {
  look(parts);
  if (asked.job === 0) return outcome("ok", listWords(parts));
  const job = parts.jobs.find(asked.job);
  if (job === undefined) return noSuchJob(parts, asked.job);
  return asked.kill ? endJob(parts, job) : showJob(parts, job);
}

export function noSuchJob({ jobs }: ShellParts, id: number): Outcome {
  const ids = jobs.all.map((job) => job.id);
  const words = ids.length === 0 ? "there is none in this session" : `there are: ${ids.join(", ")}`;
  return outcome("failed", `No background job ${id}; ${words}`);
}

/** What the job printed since the model was last shown something of it, then what became of the job. */
export async function showJob(parts: ShellParts, job: Job, notices: readonly string[] = []): Promise<Outcome> {
  look(parts);
  const output = parts.jobs.outputOf(job.id);
  // Of one that has just ended, the last words and the exit code are on their way.
  if (output && !isRunning(job)) await within(output.over, LAST_OUTPUT_MS);
  const isTerminal = job.terminal !== undefined;
  const limits = outputLimits(parts.hello.shownOutputBytes);
  const { captured, gone } = takeNew(output, isRunning(job), limits);
  const { shellKind } = parts.hello.programs;
  const named = output?.own ? withShellName(captured.text, output.own, shellKind) : captured.text;
  const shown = shownOutput({ ...captured, text: isTerminal ? named.replaceAll("\r\n", "\n") : named }, limits);
  const { text } = shown;
  const lost = gone > 0 ? [`${plural(gone, "byte")} before this are not kept any more`] : [];
  const state = `job ${job.id} ${isRunning(job) ? "is " : ""}${stateWords(job)}`;
  const all = [...lost, ...shown.notices, ...notices, `${state}; ${whereWords(job, output)}`];
  const words = resultText(text === "" && isRunning(job) ? "(no new output)" : text, all);
  return shownOutcome("ok", words, detailsOf(job), shown.cut || gone > 0);
}

/** Ends all processes of a job, and shows what it printed last. */
export async function endJob(parts: ShellParts, job: Job): Promise<Outcome> {
  const list = (): Proc[] => {
    look(parts);
    return job.processes;
  };
  const { ended, left } = await killAll(endable(parts, list));
  const rest = left === 0 ? "" : `, and ${left} could not be`;
  const words = ended + left === 0 ? "nothing of it was running" : `${processes(ended)} of it ended${rest}`;
  return showJob(parts, job, [words]);
}

function processes(count: number): string {
  return count === 1 ? "1 process" : `${count} processes`;
}

/** Learns what lives of each job. */
function look({ jobs, scope }: ShellParts): void {
  jobs.owned(scope.session());
}

function isRunning(job: Job): boolean {
  return job.processes.length > 0;
}

function listWords({ jobs }: ShellParts): string {
  return jobs.all.length === 0 ? "No background jobs" : jobs.all.map(listLine).join("\n");
}

/** The end of a character or an escape sequence may not have come yet; it is shown when it has. */
const HELD_BACK_BYTES = 256;

function takeNew(
  output: JobOutput | undefined,
  isRunning: boolean,
  limits: Limits,
): { captured: Captured; gone: number } {
  const sink = new OutputSink(() => undefined, limits);
  if (output === undefined) return { captured: sink.finish(), gone: 0 };
  const { log } = output;
  let last = Buffer.alloc(0);
  const gone = log.readFrom(output.shown, (chunk) => {
    const joined = Buffer.concat([last, chunk]);
    last = joined.subarray(Math.max(0, joined.length - HELD_BACK_BYTES));
    sink.push(joined.subarray(0, joined.length - last.length));
  });
  const held = isRunning && !output.isOver ? unfinished(last) : 0;
  sink.push(last.subarray(0, last.length - held));
  output.shown = log.total - held;
  return { captured: sink.finish(), gone };
}

function whereWords(job: Job, output: JobOutput | undefined): string {
  if (job.log === undefined || output === undefined) return "it sends its output elsewhere";
  const where = `log ${job.log}`;
  if (!output.isInherited) return where;
  return `${where}; the tool host was started again, so what it printed later is not kept`;
}

function detailsOf({ id, exit, log, processes: living }: Job): ToolDetails {
  return {
    job_id: id,
    ...(exit && living.length === 0 && { exit_code: exit.code, ...(exit.signal && { signal: exit.signal }) }),
    ...(log !== undefined && { output_path: log }),
  };
}
