import type { HostAnswer, HostApprover, HostQuestion } from "../egress/host-approver.ts";
import type { Answer, Approver, Question } from "../gate/approver.ts";
import { answerPrompt, parseAnswer, questionLines } from "./approval-question.ts";
import { HOST_PROMPT, hostQuestionLines, parseHostAnswer } from "./host-question.ts";
import type { Io } from "./io.ts";
import type { Paint } from "./paint.ts";
import type { Screen } from "./screen.ts";
import { askLine, hasPerson } from "./terminal-line.ts";
import { Turns } from "./turns.ts";

export type PersonOptions = {
  io: Pick<Io, "stdin" | "stderr">;
  screen: Screen;
  paint: Paint;
  /** What a running call is, in words of one line that are harmless on a terminal. */
  describe: (callId: string) => string | undefined;
  /** Ctrl-C at the question: the answer is no, and the run is meant. */
  onInterrupt: () => void;
};

/** One person, who is asked about calls and about hosts, one question at a time. */
export type Person = { calls: Approver; hosts: HostApprover };

/** Asks the person at the terminal; undefined when stdin or stderr is none. Piped input is never consent. */
export function personAt(options: PersonOptions): Person | undefined {
  if (!hasPerson(options.io)) return undefined;
  const turns = new Turns();
  let isAfterWithdrawn = false;
  const ask = (words: Words, signal: AbortSignal): Promise<string | undefined> =>
    turns.take(signal, async () => {
      const line = await askOne({ ...words, ...(isAfterWithdrawn && { discardMs: LATE_MS }) }, options, signal);
      isAfterWithdrawn = signal.aborted;
      return line;
    });
  return {
    calls: { by: "person", ask: async (question, signal) => answerTo(await ask(callWords(question, options), signal)) },
    hosts: {
      by: "person",
      ask: async (question, signal) => hostAnswerTo(await ask(hostWords(question, options), signal)),
    },
  };
}

type Words = { lines: string[]; prompt: string };

/** Whoever was typing when a question was withdrawn has noticed by then. */
const LATE_MS = 1000;

async function askOne({ lines, ...line }: Words & { discardMs?: number }, options: PersonOptions, signal: AbortSignal) {
  const { io, screen, onInterrupt } = options;
  const release = screen.hold();
  try {
    for (const line of lines) screen.ask(line);
    return await askLine({ io, onInterrupt, ...line }, signal);
  } finally {
    release();
  }
}

function callWords(question: Question, { paint }: PersonOptions): Words {
  return { lines: questionLines(question, paint), prompt: answerPrompt(question) };
}

function hostWords(question: HostQuestion, { paint, describe }: PersonOptions): Words {
  const call = question.callId === null ? undefined : describe(question.callId);
  return { lines: hostQuestionLines(question, call, paint), prompt: HOST_PROMPT };
}

function answerTo(line: string | undefined): Answer {
  return line === undefined ? { type: "no", reason: null } : parseAnswer(line);
}

function hostAnswerTo(line: string | undefined): HostAnswer {
  return line === undefined ? { type: "no" } : parseHostAnswer(line);
}
