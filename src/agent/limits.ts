/** What a run may use. Seconds do not count while a person is being asked. */
export type RunLimits = { turns: number; toolCalls: number; seconds: number };

/** The limit that ended a run. */
export type LimitReached = { limit: keyof RunLimits; value: number };

/**
 * Measures a run's time without the waiting for a person, and aborts when it is used up. Several may be waited for at
 * once: it goes on when as many have resumed it as have paused it.
 */
export class RunClock {
  readonly #limitMs: number;
  readonly #controller = new AbortController();
  #usedMs = 0;
  #pauses = 0;
  #startedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(seconds: number) {
    this.#limitMs = seconds * 1000;
    this.#start();
  }

  /** Aborts when the time is used up. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get usedSeconds(): number {
    const running = this.#startedAt === undefined ? 0 : performance.now() - this.#startedAt;
    return (this.#usedMs + running) / 1000;
  }

  pause(): void {
    this.#pauses++;
    if (this.#startedAt === undefined) return;
    clearTimeout(this.#timer);
    this.#usedMs += performance.now() - this.#startedAt;
    this.#startedAt = undefined;
  }

  resume(): void {
    this.#pauses--;
    if (this.#pauses === 0) this.#start();
  }

  #start(): void {
    this.#startedAt = performance.now();
    // Node's timers fire at once above 2^31-1 ms, and a longer run ends by other means.
    const leftMs = Math.min(Math.max(0, this.#limitMs - this.#usedMs), 0x7fffffff);
    this.#timer = setTimeout(() => this.#controller.abort(), leftMs);
    this.#timer.unref();
  }
}
