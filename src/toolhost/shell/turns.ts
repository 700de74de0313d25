import type { Outcome } from "../../protocol/messages.ts";
import { cancelled } from "../notices.ts";

/** Has what starts processes do so one after another. */
export class Turns {
  #last: Promise<unknown>;

  /** Nothing begins before `first` is over. */
  constructor(first: Promise<unknown>) {
    this.#last = first;
  }

  /** Resolves to what `run` gives when it is its turn. One that is cancelled while it waits is answered at once. */
  take<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T | Outcome> {
    const { promise, resolve } = withResolvers<T | Outcome>();
    const giveUp = (): void => resolve(cancelled("it had not started"));
    signal.addEventListener("abort", giveUp, { once: true });
    this.#last = this.#last.then(async () => {
      signal.removeEventListener("abort", giveUp);
      if (signal.aborted) giveUp();
      else resolve(run());
      await promise.catch(() => undefined);
    });
    return promise;
  }
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T | Promise<T>) => void } {
  let resolve: (value: T | Promise<T>) => void = () => undefined;
  const promise = new Promise<T>((take) => {
    resolve = take;
  });
  return { promise, resolve };
}
