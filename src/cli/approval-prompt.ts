import type { Answer, Approver, Question } from "../gate/approver.ts";
import { answerPrompt, parseAnswer, questionLines } from "./approval-question.ts";
import type { Io } from "./io.ts";
import type { Paint } from "./paint.ts";
import type { Screen } from "./screen.ts";
import { askLine, hasPerson } from "./terminal-line.ts";

export type PersonOptions = {
  io: Pick<Io, "stdin" | "stderr">;
  screen: Screen;
  paint: Paint;
  /** Ctrl-C at the question: the answer is no, and the run is meant. */
  onInterrupt: () => void;
};

/** Asks the person at the terminal; undefined when stdin or stderr is none. Piped input is never consent. */
export function personAt(options: PersonOptions): Approver | undefined {
  if (!hasPerson(options.io)) return undefined;
  return { by: "person", ask: (question, signal) => ask(question, options, signal) };
}

async function ask(question: Question, options: PersonOptions, signal: AbortSignal): Promise<Answer> {
  const { io, screen, paint } = options;
  screen.end();
  for (const line of questionLines(question, paint)) screen.line(line);
  const line = await askLine({ io, prompt: answerPrompt(question), onInterrupt: options.onInterrupt }, signal);
  return line === undefined ? { type: "no", reason: null } : parseAnswer(line);
}
