/**
 * The signal of one request: aborts with the person's signal, and by itself when nothing arrives for a while. `close`
 * must be called; it ends what is still open.
 */
export class IdleWatch {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #onOuterAbort = () => this.#controller.abort();
  #timer: NodeJS.Timeout | undefined;
  #idle = false;

  constructor(outer: AbortSignal, idleMs: number) {
    this.#outer = outer;
    outer.addEventListener("abort", this.#onOuterAbort, { once: true });
    if (outer.aborted) this.#controller.abort();
    this.expect(idleMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether silence ended the request. */
  get idle(): boolean {
    return this.#idle;
  }

  /** Something arrived, and the next must within `ms`. */
  expect(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#idle = true;
      this.#controller.abort();
    }, ms);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener("abort", this.#onOuterAbort);
    this.#controller.abort();
  }
}
