import { createInterface } from "node:readline";
import type { InputStream, Io } from "./io.ts";

export type LineOptions = {
  io: Pick<Io, "stdin" | "stderr">;
  prompt: string;
  /** Ctrl-C at the question: there is no answer. */
  onInterrupt: () => void;
};

/** Whether there is a person to ask. Piped input is never consent. */
export function hasPerson({ stdin, stderr }: Pick<Io, "stdin" | "stderr">): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** A line typed after the question was shown; undefined for an end of input, for Ctrl-C and when `signal` aborts. */
export async function askLine(options: LineOptions, signal: AbortSignal): Promise<string | undefined> {
  if (await discardTyped(options.io.stdin)) {
    options.onInterrupt();
    return undefined;
  }
  return readLine(options, signal);
}

/** What was typed before the question could be read answers something else. */
const DISCARD_MS = 60;
const CTRL_C = 3;

/** Whether a Ctrl-C was among it. */
async function discardTyped(stdin: InputStream): Promise<boolean> {
  let interrupted = false;
  const look = (chunk: Buffer): void => {
    interrupted ||= chunk.includes(CTRL_C);
  };
  stdin.setRawMode?.(true);
  stdin.on("data", look);
  stdin.resume();
  await new Promise((resolve) => setTimeout(resolve, DISCARD_MS));
  stdin.off("data", look);
  stdin.pause();
  stdin.setRawMode?.(false);
  return interrupted;
}

function readLine({ io, prompt, onInterrupt }: LineOptions, signal: AbortSignal): Promise<string | undefined> {
  const reader = createInterface({ input: io.stdin, output: io.stderr, terminal: true, historySize: 0 });
  return new Promise((resolve) => {
    const close = (): void => reader.close();
    const finish = (line: string | undefined): void => {
      signal.removeEventListener("abort", close);
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
    signal.addEventListener("abort", close, { once: true });
    if (signal.aborted) return close();
    reader.question(prompt, (line) => {
      finish(line);
      reader.close();
    });
  });
}
