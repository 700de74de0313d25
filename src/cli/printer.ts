import type { OutputStream } from "./io.ts";

/** Stdout of a command. Whoever reads it may go away at any time, which is nobody's error. */
export class Printer {
  readonly #stream: OutputStream;
  readonly #closed = new AbortController();
  #isFull = false;
  /** The cursor stands at the beginning of a line. */
  atLineStart = true;

  constructor(stream: OutputStream) {
    this.#stream = stream;
    stream.on("error", () => this.#closed.abort());
  }

  /** Aborts when the reader is gone (EPIPE); writing is harmless then. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  write(text: string): void {
    if (this.#closed.signal.aborted || text === "") return;
    this.#isFull = !this.#stream.write(text);
    this.atLineStart = text.endsWith("\n");
  }

  line(text: string): void {
    this.write(`${text}\n`);
  }

  /** Resolves when there is room for more: long output does not pile up in memory. */
  ready(): Promise<void> {
    return this.#isFull ? this.flushed() : Promise.resolve();
  }

  /** Resolves when what was written is out, or can never be. */
  flushed(): Promise<void> {
    if (this.#closed.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#stream.write("", () => resolve());
      this.#isFull = false;
    });
  }
}
