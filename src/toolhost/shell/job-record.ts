import type { Exit } from "./process-run.ts";
import type { Proc } from "./process-table.ts";
import { takeFile } from "./state-folder.ts";

/** Processes that outlive the call that started them, until they end or the session does. */
export type Job = {
  id: number;
  command: string;
  /** What lives of it, as last seen; empty once it has ended. */
  processes: Proc[];
  /** When it began, and when its main process ended, in ms since 1970. */
  begun: number;
  ended?: number;
  /** How its main process ended; absent while that runs, and where nobody could see it. */
  exit?: Exit;
  /** The number of the call that made it; absent when that is not known any more. */
  call?: number;
  /** Where its output goes; absent when the command sent it elsewhere. */
  log?: string;
  /** Pid of the program that holds its terminal; absent without one. */
  terminal?: number;
};

const MAX_RECORD_BYTES = 4 * 1024 * 1024;

/** Another process of the agent could have changed the file, so what does not look like a job is no job. */
export function readJobs(file: string): Job[] {
  try {
    const stored: unknown = JSON.parse(takeFile(file, MAX_RECORD_BYTES)?.toString("utf8") ?? "");
    return Array.isArray(stored) ? stored.flatMap(asJob) : [];
  } catch {
    return [];
  }
}

function asJob(stored: unknown): Job[] {
  const { id, command, processes, ...rest } = Object(stored) as Partial<Record<keyof Job, unknown>>;
  if (!isCount(id) || typeof command !== "string" || !Array.isArray(processes)) return [];
  const known = processes.flatMap((proc: Partial<Proc> | null) =>
    isCount(proc?.pid) && isCount(proc?.sid) && typeof proc?.started === "string"
      ? [{ pid: proc.pid, ppid: 1, sid: proc.sid, started: proc.started }]
      : [],
  );
  return [{ id, command, processes: known, ...optional(rest) }];
}

function optional({
  begun,
  ended,
  exit,
  call,
  log,
  terminal,
}: Partial<Record<keyof Job, unknown>>): Omit<Job, "id" | "command" | "processes"> {
  const code: unknown = Object(exit).code;
  return {
    begun: isCount(begun) ? begun : Date.now(),
    ...(isCount(ended) && { ended }),
    // The signal is in the code.
    ...(isCount(code) && { exit: { code, signal: undefined } }),
    ...(isCallNumber(call) && { call }),
    ...(typeof log === "string" && { log }),
    ...(isCount(terminal) && { terminal }),
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** As the protocol has them; another would end the channel. */
function isCallNumber(value: unknown): value is number {
  return isCount(value) && value >= 1 && value <= 0x7fffffff;
}
