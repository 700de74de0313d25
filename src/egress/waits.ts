import type { Attempt } from "./ledger.ts";

/** A connection of which nothing has left yet. */
type Wait = {
  isAsking: boolean;
  withdraw: () => void;
  /** Something leaves, or never will. */
  over: Promise<void>;
};

/** How far one waiting connection has come, for who lets it through. */
export type Waiting = {
  /** Whether a person is being asked. */
  ask: (isAsking: boolean) => void;
  over: () => void;
};

/** What a program sent last, or that it sent nothing, may still be on its way when its call has ended. */
const SETTLE_MS = 1_000;

/** Connections that wait, by call, so that none outlives the programs that wanted it. */
export class Waits {
  readonly #waits = new Map<string, Set<Wait>>();

  /** `withdraw` is called only while a person is asked. What is only assumed to be of a call may be a job's. */
  begin({ call_id: call, assumed }: Attempt, withdraw: () => void): Waiting {
    if (call === null || assumed) return { ask: () => undefined, over: () => undefined };
    let finish = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const wait: Wait = { isAsking: false, withdraw, over };
    const waits = this.#waits.get(call) ?? new Set();
    this.#waits.set(call, waits.add(wait));
    return {
      ask: (isAsking) => {
        wait.isAsking = isAsking;
      },
      over: () => {
        waits.delete(wait);
        if (waits.size === 0 && this.#waits.get(call) === waits) this.#waits.delete(call);
        finish();
      },
    };
  }

  /** No program of the call is left. Resolves when nothing of it waits any more, or soon after. */
  async end(call: string): Promise<void> {
    const waits = [...(this.#waits.get(call) ?? [])];
    if (waits.length === 0) return;
    for (const { isAsking, withdraw } of waits) if (isAsking) withdraw();
    let timer: NodeJS.Timeout | undefined;
    const soon = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SETTLE_MS);
    });
    await Promise.race([Promise.all(waits.map(({ over }) => over)), soon]);
    clearTimeout(timer);
  }
}
