import { wholeCharacters } from "../../core/truncate.ts";
import { TailRing } from "./output-ring.ts";

/** How often people are shown new output, and how much of it at once: more than anyone can read. */
const SHOW_EVERY_MS = 100;
const SHOW_BYTES = 32 * 1024;

/** Shows output to people at most ten times a second, in whole characters; of a flood, the newest part. */
export class LiveOutput {
  readonly #show: (bytes: Uint8Array) => void;
  #pending: TailRing | undefined;
  #timer: NodeJS.Timeout | undefined;
  #shownAt = 0;
  #waiting = 0;

  constructor(show: (bytes: Uint8Array) => void) {
    this.#show = show;
  }

  push(chunk: Buffer): void {
    this.#keep(chunk);
    if (this.#timer !== undefined) return;
    const wait = this.#shownAt + SHOW_EVERY_MS - performance.now();
    if (wait <= 0) this.#flush(false);
    else this.#timer = setTimeout(() => this.#flush(false), wait);
  }

  /** Shows what waits, at once; the last thing to do. */
  end(): void {
    this.#flush(true);
  }

  #keep(chunk: Buffer): void {
    this.#pending ??= new TailRing(SHOW_BYTES);
    this.#pending.push(chunk);
    this.#waiting += chunk.length;
  }

  #flush(isLast: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending === undefined) return;
    const bytes = this.#pending.bytes();
    const whole = wholeCharacters(bytes);
    const start = this.#waiting > bytes.length ? whole.start : 0;
    const end = isLast ? bytes.length : whole.end;
    this.#pending = undefined;
    this.#waiting = 0;
    // The beginning of a character waits for its end.
    if (end < bytes.length) this.#keep(bytes.subarray(end));
    if (end <= start) return;
    this.#shownAt = performance.now();
    this.#show(bytes.subarray(start, end));
  }
}
