import { untilAborted } from "./until-aborted.ts";

/** How a name is looked up, on a thread that nobody can take back once it is asked. */
export type Lookup = (name: string) => Promise<readonly string[]>;

type Times = {
  /** A lookup that takes longer is slow. */
  slowMs: number;
  /** How long anybody waits, less than a connection may take. */
  patienceMs: number;
  /** How long a name is left alone whose lookup was slow and failed. */
  restMs: number;
};

const TIMES: Times = { slowMs: 1000, patienceMs: 8000, restMs: 10_000 };
const MOST_PROMPT = 1000;

type Question = { answer: Promise<readonly string[]>; start: () => void; waiting: number; startedAt?: number };

/**
 * Lookups of names that strangers choose, in a process whose own go the same way: Node runs two at once, whoever asks,
 * and each of a name whose server is dead takes many seconds. So one runs at a time, once for all who wait for that name,
 * and beside a slow one only one of a name that was answered promptly before; a place stays free for others.
 */
export class Lookups {
  readonly #lookup: Lookup;
  readonly #times: Times;
  /** In the order of their first being asked. */
  readonly #questions = new Map<string, Question>();
  readonly #prompt = new Set(["localhost"]);
  /** Until when a name rests. */
  readonly #resting = new Map<string, number>();

  constructor(lookup: Lookup, times: Partial<Times> = {}) {
    this.#lookup = lookup;
    this.#times = { ...TIMES, ...times };
  }

  /** Rejects as the lookup does; when there is no answer in time, in words for a person; or with the signal's reason. */
  async resolve(name: string, signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted();
    if ((this.#resting.get(name) ?? 0) > performance.now()) throw noAnswer();
    const question = this.#questions.get(name) ?? this.#ask(name);
    if (this.#hasRun(question, this.#times.patienceMs)) throw noAnswer();
    question.waiting++;
    try {
      return await untilAborted(within(question.answer, this.#times.patienceMs), signal);
    } finally {
      question.waiting--;
      if (question.waiting === 0 && question.startedAt === undefined) this.#questions.delete(name);
    }
  }

  #ask(name: string): Question {
    let start: () => void = () => undefined;
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const answer = started.then(() => this.#run(name));
    // Those who wait may all have gone.
    answer.catch(() => undefined);
    const question = { answer, start, waiting: 0 };
    this.#questions.set(name, question);
    this.#startNext();
    return question;
  }

  #startNext(): void {
    const running = [...this.#questions.values()].filter(({ startedAt }) => startedAt !== undefined);
    const isSlow = running.every((question) => this.#hasRun(question, this.#times.slowMs));
    if (running.length > 1 || !isSlow) return;
    for (const [name, question] of this.#questions) {
      if (question.startedAt !== undefined || (running.length === 1 && !this.#prompt.has(name))) continue;
      question.startedAt = performance.now();
      question.start();
      return;
    }
  }

  async #run(name: string): Promise<readonly string[]> {
    const { slowMs } = this.#times;
    const startedAt = performance.now();
    // A timer may be early by part of a millisecond.
    const timer = setTimeout(() => this.#startNext(), slowMs + 1).unref();
    let isAnswered = false;
    try {
      const addresses = await this.#lookup(name);
      isAnswered = true;
      return addresses;
    } finally {
      clearTimeout(timer);
      this.#questions.delete(name);
      this.#remember(name, { isAnswered, isSlow: performance.now() - startedAt >= slowMs });
      this.#startNext();
    }
  }

  #remember(name: string, { isAnswered, isSlow }: { isAnswered: boolean; isSlow: boolean }): void {
    const now = performance.now();
    for (const [other, until] of this.#resting) if (until <= now) this.#resting.delete(other);
    if (isSlow && !isAnswered) this.#resting.set(name, now + this.#times.restMs);
    if (isSlow) this.#prompt.delete(name);
    else if (isAnswered && this.#prompt.size < MOST_PROMPT) this.#prompt.add(name);
  }

  #hasRun({ startedAt }: Question, ms: number): boolean {
    return startedAt !== undefined && performance.now() - startedAt >= ms;
  }
}

function noAnswer(): Error {
  return new Error("the name service of this machine does not answer");
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(noAnswer()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
