import { createInterface } from "node:readline";
import type { Answer, Approver, Question } from "../gate/approver.ts";
import { ANSWER_PROMPT, parseAnswer, questionLines } from "./approval-question.ts";
import type { InputStream, Io } from "./io.ts";
import type { Paint } from "./paint.ts";
import type { Screen } from "./screen.ts";

export type PersonOptions = {
  io: Pick<Io, "stdin" | "stderr">;
  screen: Screen;
  paint: Paint;
  /** Ctrl-C at the question: the answer is no, and the run is meant. */
  onInterrupt: () => void;
};

/** Asks the person at the terminal; undefined when stdin or stderr is none. Piped input is never consent. */
export function personAt(options: PersonOptions): Approver | undefined {
  const { stdin, stderr } = options.io;
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  return { by: "person", ask: (question, signal) => ask(question, options, signal) };
}

async function ask(question: Question, options: PersonOptions, signal: AbortSignal): Promise<Answer> {
  const { io, screen, paint } = options;
  screen.end();
  for (const line of questionLines(question, paint)) screen.line(line);
  if (await discardTyped(io.stdin)) {
    options.onInterrupt();
    return { type: "no", reason: null };
  }
  const line = await readLine(options, signal);
  return line === undefined ? { type: "no", reason: null } : parseAnswer(line);
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

/** Undefined for an end of input, for Ctrl-C and when `signal` aborts. */
function readLine({ io, onInterrupt }: PersonOptions, signal: AbortSignal): Promise<string | undefined> {
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
    reader.question(ANSWER_PROMPT, (line) => {
      finish(line);
      reader.close();
    });
  });
}
