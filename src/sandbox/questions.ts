import { GloveboxError } from "../core/errors.ts";
import type { ToController, ToToolHost } from "../protocol/messages.ts";

/** What a tool host is asked beside calls, and what it answers; both carry the same id. */
export type Question = Extract<ToToolHost, { type: "self_test" | "scan_links" | "sweep" | "restore" }>;
export type Answer = Extract<ToController, { type: "self_tested" | "links" | "swept" | "restored" }>;

/** Waits for `answer`; rejects when the channel ends first or the time is over. */
export type Within = <T>(answer: Promise<T>, withinMs: number, words: string) => Promise<T>;

export type QuestionsParts = { send: (question: Question) => void; within: Within };

/** Questions to a tool host that wait for their answers. */
export class Questions {
  readonly #parts: QuestionsParts;
  readonly #waiting = new Map<number, (answer: Answer) => void>();

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
  }

  /** @throws GloveboxError `SANDBOX_LOST`, `PROTOCOL` for an answer to something else. */
  async ask<Type extends Answer["type"]>(
    question: Question,
    type: Type,
    withinMs: number,
  ): Promise<Extract<Answer, { type: Type }>> {
    const answer = new Promise<Answer>((resolve) => {
      this.#waiting.set(question.id, resolve);
    });
    this.#parts.send(question);
    try {
      const given = await this.#parts.within(answer, withinMs, `The tool host did not answer (${question.type})`);
      if (given.type === type) return given as Extract<Answer, { type: Type }>;
      throw new GloveboxError("PROTOCOL", `The tool host answered ${question.type} by ${given.type}`);
    } finally {
      this.#waiting.delete(question.id);
    }
  }

  /** An answer that nobody waits for any more is dropped. */
  settle(answer: Answer): void {
    this.#waiting.get(answer.id)?.(answer);
  }
}
