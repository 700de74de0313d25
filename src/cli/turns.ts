/** One at a time, in the order they came: a person answers the question they have before them. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Undefined when `signal` aborted before its turn came. */
  take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    const before = this.#last;
    const turn = untilAborted(before, signal).then(() => (signal.aborted ? undefined : work()));
    // Whoever leaves the line does not let those behind overtake whoever is being asked.
    this.#last = Promise.allSettled([before, turn]);
    return turn;
  }
}

function untilAborted(settled: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener("abort", done);
      resolve();
    };
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", done, { once: true });
    void settled.then(done);
  });
}
