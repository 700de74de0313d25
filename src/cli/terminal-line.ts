import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import type { InputStream, Io } from "./io.ts";

export type LineOptions = {
  io: Pick<Io, "stdin" | "stderr">;
  prompt: string;
  /** Ctrl-C at the question: there is no answer. */
  onInterrupt: () => void;
  /** Input that comes this soon was meant for the question before, which was withdrawn; omitted, none was. */
  discardMs?: number;
};

/** Whether there is a person to ask. Piped input is never consent. */
export function hasPerson({ stdin, stderr }: Pick<Io, "stdin" | "stderr">): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/**
 * A line typed after the question was shown; undefined for an end of input, for Ctrl-C and when `signal` aborts: the
 * line of the question says then that it is withdrawn.
 */
export async function askLine(options: LineOptions, signal: AbortSignal): Promise<string | undefined> {
  const { io, onInterrupt, discardMs = DISCARD_MS } = options;
  if (await discardTyped(io.stdin, discardMs, signal)) {
    onInterrupt();
    return undefined;
  }
  if (!signal.aborted) return readLine(options, signal);
  io.stderr.write("(withdrawn)\n");
  return undefined;
}

/** What was typed before the question could be read answers something else. */
const DISCARD_MS = 60;
const CTRL_C = 3;

/** Whether a Ctrl-C was among it. Ends early when `signal` aborts. */
async function discardTyped(stdin: InputStream, ms: number, signal: AbortSignal): Promise<boolean> {
  let interrupted = false;
  const look = (chunk: Buffer): void => {
    interrupted ||= chunk.includes(CTRL_C);
  };
  stdin.setRawMode?.(true);
  stdin.on("data", look);
  stdin.resume();
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
  stdin.off("data", look);
  stdin.pause();
  stdin.setRawMode?.(false);
  return interrupted;
}

function readLine({ io, prompt, onInterrupt }: LineOptions, signal: AbortSignal): Promise<string | undefined> {
  const reader = createInterface({ input: io.stdin, output: io.stderr, terminal: true, historySize: 0 });
  return new Promise((resolve) => {
    const withdraw = (): void => {
      io.stderr.write(" (withdrawn)\n");
      reader.close();
    };
    const finish = (line: string | undefined): void => {
      signal.removeEventListener("abort", withdraw);
      resolve(line);
    };
    reader.on("close", () => {
      finish(undefined);
      io.stdin.pause();
    });
    reader.on("SIGINT", () => {
      reader.close();
      io.stderr.write("\n");
      onInterrupt();
    });
    signal.addEventListener("abort", withdraw, { once: true });
    reader.question(prompt, (line) => {
      finish(line);
      reader.close();
    });
  });
}
