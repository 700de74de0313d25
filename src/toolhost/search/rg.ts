import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { messageOf, systemCode } from "../../core/errors.ts";
import { headBytes } from "../../core/truncate.ts";
import { escapeControls } from "../../core/visible.ts";
import type { Outcome } from "../../protocol/messages.ts";
import { ToolFailure } from "../outcomes.ts";
import { ownLimits } from "../own-limits.ts";
import { type StreamRecord, takeRecords } from "./records.ts";

/** Seconds a search may take. */
export const RG_MS = 30_000;

const MAX_ERROR_BYTES = 4096;

/** What a search that was killed says. */
export const KILLED_WORDS =
  "The search program was killed before its end, by another process or because memory ran out, there may be more; narrow the path";

/** How a search ended. `stopped`: the reader had enough. */
export type RgEnd =
  | { type: "done"; exitCode: number; errors: string }
  /** By a signal of somebody else: a command, or the kernel when memory ran out. */
  | { type: "killed" }
  | { type: "stopped" | "timed_out" | "cancelled" };

/** The status of what was found till then. */
export const STATUS_OF_END = {
  done: "ok",
  stopped: "ok",
  timed_out: "timed_out",
  cancelled: "cancelled",
  killed: "failed",
} as const satisfies Record<RgEnd["type"], Outcome["status"]>;

export type RgRun = {
  /** Absolute path of rg. */
  program: string;
  /** Options; what to search is always `./` in `cwd`, or a file there. */
  args: readonly string[];
  cwd: string;
  /** Whether ignore files of the folders above `cwd` are left out. */
  isRoot: boolean;
  /** Name in `cwd`; omitted: all of it. */
  target?: string;
  /** Written to rg's stdin; a pattern can be longer than an argument may be. */
  input?: string;
  delimiter: number;
  maxRecordBytes: number;
  timeoutMs: number;
  signal: AbortSignal;
};

/**
 * Never the workspace's or a person's settings, of ignore files git's alone (`.rgignore` too is left out by ripgrep 14,
 * not by 13), never what `.git` holds, and the same order every time.
 */
const FIXED_ARGS = [
  ...["--no-config", "--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-dot", "--no-ignore-messages"],
  "--no-follow",
  ...["--sort", "path", "--color", "never", "-g", "!.git"],
];

/**
 * Runs rg with an empty environment and gives each record to `take` until that returns false; the process is gone when
 * this resolves. Throws ToolFailure when rg cannot be started.
 */
export async function runRg(run: RgRun, take: (record: StreamRecord) => boolean): Promise<RgEnd> {
  // The target is a path that begins with `./` and stands after `--`: no name can be an option.
  const args = [
    ...FIXED_ARGS,
    ...(run.isRoot ? ["--no-ignore-parent"] : []),
    // Endless, and its own listing grows while it is read.
    ...(run.cwd === "/" ? ["-g", "!/proc", "-g", "!/sys"] : []),
    ...run.args,
    "--",
    `./${run.target ?? ""}`,
  ];
  const child = await startRg(run, args);
  const exited = exitOf(child);
  const killer = new Killer(child, run);
  const errors = collect(child.stderr);
  // A search that ends before it has read its pattern closes the pipe; its exit says why.
  child.stdin?.on("error", () => undefined).end(run.input);
  try {
    await takeRecords(child.stdout, { delimiter: run.delimiter, maxBytes: run.maxRecordBytes }, (record) => {
      const more = take(record);
      if (!more) killer.kill("stopped");
      return more;
    });
    const exitCode = await exited;
    if (killer.reason) return { type: killer.reason };
    return exitCode === undefined ? { type: "killed" } : { type: "done", exitCode, errors: await errors };
  } finally {
    killer.kill("stopped");
    killer.disarm();
  }
}

/** A child without a pid was not started, and has not even streams where descriptors were wanting. */
async function startRg({ program, cwd, input }: RgRun, args: readonly string[]): Promise<Child> {
  ownLimits.require();
  try {
    const stdin = input === undefined ? "ignore" : "pipe";
    const child = spawn(program, args, { cwd, env: {}, stdio: [stdin, "pipe", "pipe"] }) as Child;
    if (child.pid !== undefined) return child;
    const [cause] = await once(child, "error");
    throw cause;
  } catch (thrown) {
    // Most often it is the directory that cannot be entered, or is gone by now: its own error says so.
    await stat(`${cwd}/.`);
    const words = START_WORDS[systemCode(thrown) ?? ""] ?? messageOf(thrown);
    throw new ToolFailure(`The search program did not start: ${words}`);
  }
}

const START_WORDS: Record<string, string> = {
  EAGAIN: "the limit on processes is reached; end background jobs first",
  EMFILE: "the tool host's limit on open files is reached",
  ENFILE: "the machine's limit on open files is reached",
  ENOMEM: "the memory is used up; end background jobs first",
};

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;

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

/** Undefined when a signal ended it. */
function exitOf(child: Child): Promise<number | undefined> {
  const exited = new Promise<number | undefined>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? undefined));
  });
  // Awaited only after the output; until then an error must not count as unhandled.
  exited.catch(() => undefined);
  return exited;
}

/** The beginning of what rg complains about; the rest is read and dropped, so that it never waits. */
async function collect(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream) if (text.length < MAX_ERROR_BYTES) text += String(chunk);
  return escapeControls(headBytes(text, MAX_ERROR_BYTES)).trim();
}
