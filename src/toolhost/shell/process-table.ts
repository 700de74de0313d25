import { readdirSync } from "node:fs";
import { readSmallFile } from "./small-file.ts";

/** A live process as `/proc` shows it. `started` is its start time in clock ticks: with the pid it names one process for good. */
export type Proc = { pid: number; ppid: number; sid: number; started: string };

export function keyOf(proc: { pid: number; started: string }): string {
  return `${proc.pid}:${proc.started}`;
}

/** Every live process that can be seen; zombies are left out, they hold nothing and only wait to be reaped. */
export function listProcesses(): Proc[] {
  const processes: Proc[] = [];
  for (const name of readdirSync("/proc")) {
    const first = name.charCodeAt(0);
    if (first < 48 || first > 57) continue;
    const proc = readProcess(Number(name));
    if (proc) processes.push(proc);
  }
  return processes;
}

/** One process, or undefined when it is gone or a zombie. */
export function readProcess(pid: number): Proc | undefined {
  const stat = readSmallFile(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name may hold blanks and parentheses, so the fields are counted from the last one.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, ppid, , sid] = fields;
  const started = fields[19];
  if (state === "Z" || state === "X" || started === undefined) return undefined;
  return { pid, ppid: Number(ppid), sid: Number(sid), started };
}

/**
 * Whether a process runs as our own user. Read from `status`, because the owner of `/proc/PID` is root for a program
 * that made itself undumpable, and such a one must not escape the kill.
 */
export function isOfOurUser(pid: number): boolean {
  const uid = /^Uid:\t(\d+)/m.exec(readSmallFile(`/proc/${pid}/status`) ?? "")?.[1];
  return uid !== undefined && Number(uid) === process.getuid?.();
}

/** The first words of a process's command line, for people. */
export function commandLine(pid: number): string {
  return (readSmallFile(`/proc/${pid}/cmdline`) ?? "").replaceAll("\0", " ").trim();
}

/** What a process calls itself, of at most 15 characters; empty when it is gone. */
export function readName(pid: number): string {
  return (readSmallFile(`/proc/${pid}/comm`) ?? "").trim();
}
