import type { Io } from "./io.ts";

/** 128 and the signal's number, as shells count. */
const SIGNAL_EXITS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
export type SignalName = keyof typeof SIGNAL_EXITS;

/** What a second signal gives the removal of the container before the process ends regardless. */
const LAST_MS = 1500;

export type InterruptionOptions = {
  /** The first signal has come. */
  onFirst: () => void;
  /** The process is about to end although the command has not. */
  beforeExit: () => void;
};

/**
 * Listens for SIGINT, SIGTERM and SIGHUP: the first asks the command to stop, the second makes it leave at once, the
 * third does not wait for anything. Whoever makes it disposes of it.
 */
export class Interruption {
  readonly #io: Pick<Io, "signals" | "exit">;
  readonly #options: InterruptionOptions;
  readonly #stop = new AbortController();
  readonly #urgent = new AbortController();
  readonly #listeners: [SignalName, () => void][];
  #first: SignalName | undefined;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(io: Pick<Io, "signals" | "exit">, options: InterruptionOptions) {
    this.#io = io;
    this.#options = options;
    const names: SignalName[] = ["SIGINT", "SIGTERM", "SIGHUP"];
    this.#listeners = names.map((name) => [name, () => this.interrupt(name)]);
    for (const [name, listener] of this.#listeners) io.signals.on(name, listener);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get urgent(): AbortSignal {
    return this.#urgent.signal;
  }

  /** What the first signal makes of the exit code; undefined while none has come. */
  get exitCode(): number | undefined {
    return this.#first && SIGNAL_EXITS[this.#first];
  }

  /** As if the signal had come: a terminal in raw mode sends Ctrl-C as a character. */
  interrupt(name: SignalName): void {
    this.#first ??= name;
    this.#count++;
    if (this.#count === 1) {
      this.#options.onFirst();
      this.#stop.abort();
    } else if (this.#count === 2) {
      this.#urgent.abort();
      this.#timer = setTimeout(() => this.#leave(), LAST_MS);
    } else {
      this.#leave();
    }
  }

  /** Stops the command without a signal and without a word: nobody reads its output any more. */
  stopQuietly(): void {
    this.#stop.abort();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const [name, listener] of this.#listeners) this.#io.signals.off(name, listener);
  }

  #leave(): void {
    this.#options.beforeExit();
    this.#io.exit(this.exitCode ?? 1);
  }
}
