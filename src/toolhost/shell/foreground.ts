import { spawn } from "node:child_process";
import { once } from "node:events";
import type { ToolDetails } from "../../core/tool-result.ts";
import type { Outcome } from "../../protocol/messages.ts";
import { outputLimits } from "../../tools/contract.ts";
import type { CallContext } from "../context.ts";
import { shownOutcome } from "../notices.ts";
import { cgroupChange } from "./cgroup.ts";
import { namesOf, reachWords } from "./job-words.ts";
import type { Prepared } from "./memory.ts";
import { nothing } from "./nothing.ts";
import { CappedFile } from "./output-file.ts";
import { LiveOutput } from "./output-live.ts";
import { type Captured, OutputSink } from "./output-sink.ts";
import {
  callProcesses,
  endable,
  makeRoom,
  prepare,
  roomWords,
  type ShellParts,
  type Started,
  startOnPipe,
} from "./parts.ts";
import { killAll } from "./process-kill.ts";
import { type Cause, type Exit, firstCause, within } from "./process-run.ts";
import { keyOf, type Proc } from "./process-table.ts";
import { questionWords } from "./questions.ts";
import { RotatingLog } from "./rotating-log.ts";
import { isFull } from "./state-folder.ts";
import { endingWords, limitDetails, limitWords, type Own, resultText, shownOutput, withShellName } from "./words.ts";

/** How long output is read after the main process has ended: what it wrote is in the pipe by then. */
const DRAIN_MS = 50;
/** A killed main process is reaped at once; only one stuck in the kernel is not. */
const REAP_MS = 2000;

/** What a command that ended leaves running is a server or two; more is a bomb, and would leave the next command no room. */
const MAX_LEFT_BEHIND = 64;

export type Command = { text: string; notes: string[]; timeoutMs: number };

/** Runs one command to its end, its limit or its cancel; what it leaves running becomes a job. */
export async function runForeground(parts: ShellParts, command: Command, context: CallContext): Promise<Outcome> {
  const begun = performance.now();
  const cleared = parts.jobs.any ? await clearTheWay(parts) : [];
  const before = parts.cgroup.read();
  const prepared = await prepare(parts, () => parts.memory.prepare(command.text, parts.memory.newFolder(), true));
  const started = await startOnPipe(parts, prepared.program);
  const shown = outputLimits(parts.hello.shownOutputBytes);
  const sink = new OutputSink(() => openFile(parts), shown);
  const live = new LiveOutput(context.show);
  const tap = {
    take(chunk: Buffer): void {
      sink.push(chunk);
      live.push(chunk);
    },
  };
  started.running.output.on("data", (chunk: Buffer) => tap.take(chunk));
  const peakOfMemory = parts.cgroup.watchMemory();

  const { cause, exit, left } = await ending(parts, started, command.timeoutMs, context.signal).finally(peakOfMemory);
  const peakMemoryBytes = peakOfMemory();
  const drained = await within(started.running.drained, DRAIN_MS);
  live.end();
  parts.limits.require();
  const job = await leaveJob(parts, { command: command.text, call: context.id, own: prepared }, started, drained, tap);
  const kept = cause === "exit" ? await keepState(parts, prepared, exit) : [];
  parts.memory.clear(prepared);
  const change = cgroupChange(before, parts.cgroup.read());
  const captured = sink.finish();
  const text = withShellName(captured.text, prepared, parts.hello.programs.shellKind);
  return settle(
    command,
    { ...shownOutput({ ...captured, text }, shown), captured },
    {
      cause,
      exit,
      notices: [
        ...command.notes,
        ...cleared,
        ...prepared.notes,
        ...started.notes,
        ...kept,
        ...limitWords(change),
        ...job.notices,
        ...leftWords(left),
      ],
      details: {
        duration_ms: Math.round(performance.now() - begun),
        ...limitDetails(change),
        ...(change.cpuSeconds !== undefined && { cpu_seconds: change.cpuSeconds }),
        ...(peakMemoryBytes !== undefined && { peak_memory_bytes: peakMemoryBytes }),
        ...(job.id !== undefined && { job_id: job.id }),
      },
    },
  );
}

type Ended = { cause: Cause; exit: Exit | undefined; left: number };

async function ending(parts: ShellParts, { running }: Started, timeoutMs: number, signal: AbortSignal): Promise<Ended> {
  const cause = await firstCause(running, timeoutMs, signal);
  if (cause === "exit") return { cause, exit: await running.exited, left: 0 };
  const { left } = await killAll(endable(parts, () => callProcesses(parts)));
  const exit = (await within(running.exited, REAP_MS)) ? await running.exited : undefined;
  return { cause, exit, left };
}

/** Hands what still runs to the job table, and the pipe with it: a reader must stay, or the next print would kill it. */
async function leaveJob(
  parts: ShellParts,
  { own, ...of }: { command: string; call: number; own: Own },
  { running, pipe }: Started,
  drained: boolean,
  tap: { take: (chunk: Buffer) => void },
): Promise<{ id?: number; notices: string[] }> {
  let left = callProcesses(parts);
  const notices: string[] = [];
  if (left.length > MAX_LEFT_BEHIND) {
    const { ended } = await killAll(endable(parts, () => callProcesses(parts)));
    left = callProcesses(parts);
    notices.push(`${ended} processes it left behind were ended: more than ${MAX_LEFT_BEHIND} are no background job`);
  }
  if (drained) parts.pipes.give(pipe);
  else parts.pipes.retire(pipe);
  if (left.length === 0) {
    running.output.destroy();
    return { notices };
  }
  const { id, log: path } = parts.jobs.reserve();
  const log = drained ? undefined : RotatingLog.create(path, parts.hello.maxOutputFileBytes);
  const over = running.drained.then(() => log?.close());
  if (log === undefined) tap.take = () => undefined;
  else tap.take = (chunk) => log.write(chunk);
  parts.jobs.add({ id, ...of, processes: left, ...(log && { log: path }) }, log && { log, over, own });
  const kept = log?.isOpen ? `goes to ${path}` : "is dropped, since no file could be made for it";
  const output = drained ? "" : `; what it prints from now on ${kept}`;
  return {
    id,
    notices: [...notices, `job ${id} goes on in the background: ${namesOf(left)}${output}; ${reachWords(id)}`],
  };
}

/** Gives strays to the job they most likely belong to, and ends a job that has become a fork bomb. */
async function clearTheWay(parts: ShellParts): Promise<string[]> {
  const { jobs, scope } = parts;
  jobs.claim(callProcesses(parts));
  const { ids, keys } = jobs.overgrown(scope.session());
  if (ids.length === 0) return [];
  const list = (): Proc[] => {
    const live = scope.session();
    jobs.owned(live);
    const grown = jobs.overgrown(live).keys;
    for (const key of grown) keys.add(key);
    return live.filter((proc) => keys.has(keyOf(proc)));
  };
  const { ended, left } = await killAll(endable(parts, list));
  const rest = left === 0 ? "" : `, and ${left} could not be`;
  return [`job ${ids.join(", ")} had grown without end: ${ended} processes of it were ended${rest}`];
}

async function keepState(parts: ShellParts, prepared: Prepared, exit: Exit | undefined): Promise<string[]> {
  if (exit?.code === 2 && !(await parses(parts, prepared))) {
    return ["syntax error: directory and variables are as before this command"];
  }
  const notes = parts.memory.commit(prepared);
  if (notes.length === 0 || !isFull(parts.hello.state)) return notes;
  makeRoom(parts);
  return [...notes, roomWords(parts)];
}

/** A shell runs the lines before a syntax error; exit code 2 alone does not tell it from a command that failed. */
async function parses({ hello }: ShellParts, { program, textPath }: Prepared): Promise<boolean> {
  const options = hello.programs.shellKind === "sh" ? [] : ["--noprofile", "--norc", "-O", "extglob"];
  const args = [...options, "-n", textPath];
  const check = spawn(program.file, args, {
    cwd: program.cwd,
    env: {},
    stdio: [nothing(), nothing(), nothing()],
    timeout: REAP_MS,
  });
  // Where the check itself cannot run, the saved state counts.
  return once(check, "exit").then(
    ([code]) => code === 0,
    () => true,
  );
}

function openFile({ outputs, hello }: ShellParts): CappedFile | undefined {
  try {
    return new CappedFile(outputs.nextPath(), hello.maxOutputFileBytes);
  } catch {
    return undefined;
  }
}

function leftWords(left: number): string[] {
  return left === 0 ? [] : [`${left} of its processes could not be killed`];
}

type Told = Omit<Ended, "left"> & { notices: string[]; details: ToolDetails };

type Shown = ReturnType<typeof shownOutput> & { captured: Captured };

function settle(command: Command, shown: Shown, { cause, exit, notices, details }: Told): Outcome {
  const { text, notices: outputNotices, cut, captured } = shown;
  const asked = cause === "exit" && exit ? questionWords(text, exit.code) : [];
  const ending = endingWords(cause, exit, command.timeoutMs);
  const status = { timeout: "timed_out", cancel: "cancelled", exit: exit?.code === 0 ? "ok" : "failed" } as const;
  const all: ToolDetails = {
    ...details,
    ...(cause === "exit" && exit && { exit_code: exit.code, ...(exit.signal && { signal: exit.signal }) }),
    output_bytes: captured.totalBytes,
    ...(captured.file && { output_path: captured.file.path }),
  };
  return shownOutcome(status[cause], resultText(text, [...outputNotices, ...notices, ...asked, ...ending]), all, cut);
}
