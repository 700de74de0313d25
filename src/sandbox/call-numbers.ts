/** Calls whose connections can still be told apart: a background job may make one long after its call. */
const MAX_REMEMBERED = 10_000;

/** The numbers calls have on the wire, unique for as long as a container lives, and whose they are. */
export class CallNumbers {
  readonly #callIds = new Map<number, string>();
  #next = 1;

  /** A number of its own; `callId` is the model's id of the call it stands for. */
  next(callId?: string): number {
    const number = this.#next++;
    if (callId === undefined) return number;
    this.#callIds.set(number, callId);
    if (this.#callIds.size > MAX_REMEMBERED) this.#callIds.delete(this.#callIds.keys().next().value ?? 0);
    return number;
  }

  /** Whose a number is; null for one that nobody was given: a tool host could say any. */
  callIdOf(number: number | null): string | null {
    return (number === null ? undefined : this.#callIds.get(number)) ?? null;
  }
}
