import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync } from "node:fs";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { nothing } from "./nothing.ts";
import type { OutputPipe } from "./process-pipe.ts";

export type Program = {
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Its stdin is written to; omitted, it is `/dev/null`. */
  takesInput?: true;
};

/** A started program. `exited` is what the kernel told us of its main process, never something it printed. */
export type Running = {
  pid: number;
  exited: Promise<Exit>;
  /** stdout and stderr in one order, until the last process that holds them is gone. */
  output: Readable;
  /** Resolves when nobody can write any more. */
  drained: Promise<void>;
  /** Its stdin, where the program takes input. */
  input: Writable | undefined;
};
export type Exit = { code: number; signal: NodeJS.Signals | undefined };

/** Starts a program in a session and process group of its own, without a terminal. */
export async function start(program: Program, pipe: OutputPipe): Promise<Running> {
  const writer = pipe.openWriter();
  let child: ChildProcess;
  try {
    child = spawn(program.file, program.args, {
      cwd: program.cwd,
      env: program.env,
      stdio: [program.takesInput ? "pipe" : nothing(), writer, writer],
      detached: true,
    });
  } finally {
    closeSync(writer);
  }
  if (child.pid === undefined) {
    const [cause] = await once(child, "error");
    throw cause;
  }
  const output = pipe.openReader();
  const drained = new Promise<void>((resolve) => void output.once("close", resolve));
  // A reset of the pipe is its end; the exit of the child is what counts.
  output.on("error", () => undefined);
  // Whoever ends while something is typed is told of by its exit.
  child.stdin?.on("error", () => undefined);
  return { pid: child.pid, exited: exitOf(child), output, drained, input: child.stdin ?? undefined };
}

async function exitOf(child: ChildProcess): Promise<Exit> {
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  return { code: code ?? 128 + signalNumber(signal), signal: signal ?? undefined };
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : (constants.signals[signal] ?? 0);
}

export type Cause = "exit" | "timeout" | "cancel";

/** Waits until the main process ends, the time is up or the call is cancelled, whichever is first. */
export async function firstCause(running: Running, timeoutMs: number, signal: AbortSignal): Promise<Cause> {
  const watch = new AbortController();
  const cancelled = new Promise<Cause>((resolve) => {
    if (signal.aborted) resolve("cancel");
    signal.addEventListener("abort", () => resolve("cancel"), { once: true, signal: watch.signal });
  });
  const late = sleep(timeoutMs, "timeout" as const, { signal: watch.signal });
  late.catch(() => undefined);
  try {
    return await Promise.race([running.exited.then(() => "exit" as const), late, cancelled]);
  } finally {
    watch.abort();
  }
}

/** Whether `done` comes within `ms`. */
export async function within(done: Promise<unknown>, ms: number): Promise<boolean> {
  const watch = new AbortController();
  const late = sleep(ms, false, { signal: watch.signal });
  late.catch(() => undefined);
  try {
    return await Promise.race([done.then(() => true), late]);
  } finally {
    watch.abort();
  }
}
