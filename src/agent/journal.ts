import type { Fact, LiveEvent } from "../core/events.ts";
import { isEntry } from "../core/events.ts";
import type { Message } from "../core/messages.ts";
import { messageOf } from "./context.ts";

/**
 * Where facts go. `append` resolves with the fact as it was stored, secrets masked; only then has it happened. `show`
 * stores nothing.
 */
export type EventSink = { append: (fact: Fact) => Promise<Fact>; show: (event: LiveEvent) => void };

/** The facts of one conversation as they are made: stored first, then part of the context. */
export class Journal {
  readonly #sink: EventSink;
  readonly #messages: Message[] = [];

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  /** The context so far; grows only at its end. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Resolves with the fact as it was stored: what happens next must happen to that, not to what came in. */
  async append<T extends Fact>(fact: T): Promise<T> {
    const stored = (await this.#sink.append(fact)) as T;
    if (isEntry(stored)) this.#messages.push(...messageOf(stored));
    return stored;
  }

  show(event: LiveEvent): void {
    this.#sink.show(event);
  }
}
