import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { headBytes } from "../../core/truncate.ts";
import { escapeControls } from "../../core/visible.ts";
import { ToolFailure } from "../outcomes.ts";
import { type StreamRecord, splitRecords } from "./records.ts";

/** Seconds a search may take. */
export const RG_MS = 30_000;

const MAX_ERROR_BYTES = 4096;

/** How a search ended. `stopped`: the reader had enough. */
export type RgEnd =
  | { type: "done"; exitCode: number; errors: string }
  | { type: "stopped" | "timed_out" | "cancelled" };

export type RgRun = {
  /** Absolute path of rg. */
  program: string;
  /** Options; what to search is always `./` in `cwd`, or a file there. */
  args: readonly string[];
  cwd: string;
  /** Name in `cwd`; omitted: all of it. */
  target?: string;
  /** Written to rg's stdin; a pattern can be longer than an argument may be. */
  input?: string;
  delimiter: number;
  maxRecordBytes: number;
  timeoutMs: number;
  signal: AbortSignal;
};

/** Never the workspace's or a person's settings, never what `.git` holds, and the same order every time. */
const FIXED_ARGS = [
  ...["--no-config", "--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-messages", "--no-follow"],
  ...["--sort", "path", "--color", "never", "-g", "!.git"],
];

/**
 * Runs rg with an empty environment and gives each record to `take` until that returns false; the process is gone when
 * this resolves. Throws ToolFailure when rg cannot be started.
 */
export async function runRg(run: RgRun, take: (record: StreamRecord) => boolean): Promise<RgEnd> {
  // The target is a path that begins with `./` and stands after `--`: no name can be an option.
  const args = [...FIXED_ARGS, ...run.args, "--", `./${run.target ?? ""}`];
  const child = spawn(run.program, args, { cwd: run.cwd, env: {}, stdio: ["pipe", "pipe", "pipe"] });
  const exited = exitOf(child);
  const killer = new Killer(child, run);
  const errors = collect(child.stderr);
  // A search that ends before it has read its pattern closes the pipe; its exit says why.
  child.stdin.on("error", () => undefined);
  child.stdin.end(run.input ?? "");
  try {
    await Promise.race([started(child), exited]);
    for await (const record of splitRecords(child.stdout, run.delimiter, run.maxRecordBytes)) {
      if (take(record)) continue;
      killer.kill("stopped");
      break;
    }
    const exitCode = await exited;
    return killer.reason ? { type: killer.reason } : { type: "done", exitCode, errors: await errors };
  } finally {
    killer.kill("stopped");
    killer.disarm();
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Ends the search once, for the first reason there is. */
class Killer {
  reason: "stopped" | "timed_out" | "cancelled" | undefined;
  readonly #child: Child;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.kill("cancelled");

  constructor(child: Child, { timeoutMs, signal }: RgRun) {
    this.#child = child;
    this.#signal = signal;
    this.#timer = setTimeout(() => this.kill("timed_out"), timeoutMs);
    signal.addEventListener("abort", this.#onAbort);
    if (signal.aborted) this.kill("cancelled");
  }

  kill(reason: NonNullable<Killer["reason"]>): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.reason ??= reason;
    this.#child.kill("SIGKILL");
  }

  disarm(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}

/** Never settles for a program that cannot be started; then `exited` rejects. */
function started(child: Child): Promise<void> {
  return new Promise((resolve) => child.on("spawn", resolve));
}

function exitOf(child: Child): Promise<number> {
  const exited = new Promise<number>((resolve, reject) => {
    child.on("error", (error) => reject(new ToolFailure(`The search program did not start: ${error.message}`)));
    child.on("exit", (code) => resolve(code ?? -1));
  });
  // Awaited only after the output; until then a failed start must not count as unhandled.
  exited.catch(() => undefined);
  return exited;
}

/** The beginning of what rg complains about; the rest is read and dropped, so that it never waits. */
async function collect(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream) if (text.length < MAX_ERROR_BYTES) text += String(chunk);
  return escapeControls(headBytes(text, MAX_ERROR_BYTES)).trim();
}
