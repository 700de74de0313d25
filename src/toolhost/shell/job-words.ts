import { clip } from "../../core/truncate.ts";
import { visibleLine } from "../../core/visible.ts";
import type { Job } from "./job-record.ts";
import type { Exit } from "./process-run.ts";
import { commandLine, type Proc } from "./process-table.ts";

const NAME_CHARS = 60;
const MAX_NAMED = 3;

/** How a model is told of processes that go on: three of them by name. */
export function namesOf(processes: readonly Proc[]): string {
  const shown = processes.slice(0, MAX_NAMED).map((proc) => `pid ${proc.pid} (${nameOf(proc)})`);
  const more = processes.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

/** How bash is started for a command; says nothing to the model. */
const OUR_WORDS = / --noprofile --norc \S+\/shell$/;

function nameOf(proc: Proc): string {
  return visibleLine(clip(commandLine(proc.pid).replace(OUR_WORDS, ""), NAME_CHARS)) || "ended";
}

/** How the model reads and ends a job. */
export function reachWords(id: number): string {
  return `read it with bash {"job": ${id}}, end it with bash {"job": ${id}, "kill": true}`;
}

/** What became of a job: `running for 3 s, pid 12 (sleep 60)`, `ended with exit code 1 after 2 s`. */
export function stateWords(job: Job): string {
  const { exit, begun, ended } = job;
  const living = withoutHolder(job);
  if (living.length > 0) {
    const main = exit && ended !== undefined ? `; what was started first ${exitWords(exit)}` : "";
    return `running for ${timeWords(Date.now() - begun)}, ${namesOf(living)}${main}`;
  }
  if (exit === undefined || ended === undefined) return "ended";
  return `${exitWords(exit)} after ${timeWords(ended - begun)}`;
}

/** One line: id, state, pids, age, command, log. */
export function listLine(job: Job): string {
  const log = job.log === undefined ? "output sent elsewhere" : `log ${job.log}`;
  const kind = job.terminal === undefined ? "" : " (on a terminal)";
  return `job ${job.id}${kind}: ${stateWords(job)}: ${visibleLine(job.command)}; ${log}`;
}

/** The program that holds a terminal is ours and tells the model nothing, unless it is all that is left. */
function withoutHolder({ processes, terminal }: Job): readonly Proc[] {
  const others = processes.filter(({ pid }) => pid !== terminal);
  return others.length > 0 ? others : processes;
}

function exitWords({ code, signal }: Exit): string {
  return signal === undefined ? `ended with exit code ${code}` : `was killed by ${signal}`;
}

function timeWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
