import type { AssistantPart, Message } from "../core/messages.ts";
import { headChars } from "../core/truncate.ts";

const MAX_LENGTH = 64;

/**
 * `id` in letters every provider accepts (at most 64 of A-Z a-z 0-9 _ -), different from all in `taken`, to which it is
 * added. The same input gives the same id, so that the beginning of a request never changes.
 */
export function uniqueId(id: string, taken: Set<string>): string {
  const clean = headChars(id.replace(/[^A-Za-z0-9_-]/g, "_"), MAX_LENGTH);
  let unique = clean;
  for (let n = taken.size; unique === "" || taken.has(unique); n++) {
    unique = `${headChars(clean || "call", MAX_LENGTH - 12)}_${n}`;
  }
  taken.add(unique);
  return unique;
}

/** The ids of all calls in `messages`. */
export function callIdsIn(messages: readonly Message[]): Set<string> {
  const ids = messages.flatMap((message) =>
    message.role === "assistant" ? message.content.flatMap((part) => (part.type === "tool_call" ? [part.id] : [])) : [],
  );
  return new Set(ids);
}

/** Gives each call of one conversation an id of its own, and each result the id of the call it answers. */
export class CallIds {
  readonly #taken = new Set<string>();
  #open: { original: string; sent: string }[] = [];

  /** The ids of the calls among `parts`, in order. Results that follow answer these. */
  calls(parts: readonly AssistantPart[]): string[] {
    const calls = parts.filter((part) => part.type === "tool_call");
    this.#open = calls.map(({ id }) => ({ original: id, sent: uniqueId(id, this.#taken) }));
    return this.#open.map(({ sent }) => sent);
  }

  /** The id to answer with; undefined when no call of the last message waits for it. */
  result(callId: string): string | undefined {
    const index = this.#open.findIndex(({ original }) => original === callId);
    return index < 0 ? undefined : this.#open.splice(index, 1)[0]?.sent;
  }
}
