import { TailRing } from "./output-ring.ts";

/** How often people are shown new output, and how much of it at once: more than anyone can read. */
const SHOW_EVERY_MS = 100;
const SHOW_BYTES = 32 * 1024;

/** Shows output to people at most ten times a second; of a flood, the newest part. */
export class LiveOutput {
  readonly #show: (bytes: Uint8Array) => void;
  #pending: TailRing | undefined;
  #timer: NodeJS.Timeout | undefined;
  #shownAt = 0;

  constructor(show: (bytes: Uint8Array) => void) {
    this.#show = show;
  }

  push(chunk: Buffer): void {
    this.#pending ??= new TailRing(SHOW_BYTES);
    this.#pending.push(chunk);
    if (this.#timer !== undefined) return;
    const wait = this.#shownAt + SHOW_EVERY_MS - performance.now();
    if (wait <= 0) this.flush();
    else this.#timer = setTimeout(() => this.flush(), wait);
  }

  /** Shows what waits, at once; also the last thing to do. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending === undefined) return;
    this.#shownAt = performance.now();
    this.#show(this.#pending.bytes());
    this.#pending = undefined;
  }
}
