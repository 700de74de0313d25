import type { Limits } from "../../core/truncate.ts";
import type { CappedFile } from "./output-file.ts";
import { TailRing } from "./output-ring.ts";
import { readable } from "./output-text.ts";

/** Enough raw bytes for 50 KiB of text also when most of them are colours and redraws; of more, four times as many. */
const LEAST_WINDOW_BYTES = 1024 * 1024;
const WINDOW_TIMES = 4;

/** What is known of a command's output once it is over. */
export type Captured = {
  /** What of the last bytes, 1 MiB or more, can be read. */
  text: string;
  /** Bytes came before `text`. */
  headless: boolean;
  /** No text, or hardly any. */
  binary: boolean;
  totalBytes: number;
  totalLines: number;
  /** The first bytes, enough to tell a file type. */
  magic: Buffer;
  hasNul: boolean;
  /** Where all of it is, when it was more than a result shows. `whole`: nothing is missing there either. */
  file: { path: string; whole: boolean } | undefined;
};

const MAGIC_BYTES = 16;
/** Text in a wrong encoding stays below this; programs, archives and random bytes are far above. */
const MAX_UNREADABLE = 0.1;
const NEWLINE = 10;

/** Takes a command's output at any speed, in bounded memory. A file is begun only when a result could not show it all. */
export class OutputSink {
  readonly #openFile: () => CappedFile | undefined;
  readonly #limits: Limits;
  readonly #windowBytes: number;
  readonly #ring: TailRing;
  #spilled = false;
  #file: CappedFile | undefined;
  #bytes = 0;
  #lines = 0;
  #lastByte = NEWLINE;
  #magic = Buffer.alloc(0);
  #hasNul = false;

  constructor(openFile: () => CappedFile | undefined, shown: Limits) {
    this.#openFile = openFile;
    this.#limits = shown;
    this.#windowBytes = Math.max(LEAST_WINDOW_BYTES, WINDOW_TIMES * shown.maxBytes);
    this.#ring = new TailRing(this.#windowBytes);
  }

  push(chunk: Buffer): void {
    this.#count(chunk);
    this.#ring.push(chunk);
    if (this.#spilled) this.#file?.write(chunk);
    else if (this.#bytes > this.#limits.maxBytes || this.#lines > this.#limits.maxLines || this.#hasNul) this.#spill();
  }

  finish(): Captured {
    const headless = this.#bytes > this.#windowBytes;
    const { text, unreadable } = readable(this.#ring.bytes(), headless);
    const binary = unreadable > MAX_UNREADABLE;
    if (binary && !this.#spilled) this.#spill();
    this.#file?.close();
    return {
      text,
      headless,
      binary,
      totalBytes: this.#bytes,
      totalLines: this.#lines + (this.#lastByte === NEWLINE ? 0 : 1),
      magic: this.#magic,
      hasNul: this.#hasNul,
      file: this.#file && { path: this.#file.path, whole: this.#file.whole },
    };
  }

  #count(chunk: Buffer): void {
    this.#bytes += chunk.length;
    // A plain loop: for `yes`, a search for each newline is ten times slower.
    let lines = 0;
    for (let at = 0; at < chunk.length; at++) if (chunk[at] === NEWLINE) lines++;
    this.#lines += lines;
    this.#lastByte = chunk[chunk.length - 1] ?? this.#lastByte;
    this.#hasNul ||= chunk.includes(0);
    if (this.#magic.length < MAGIC_BYTES) this.#magic = Buffer.concat([this.#magic, chunk]).subarray(0, MAGIC_BYTES);
  }

  #spill(): void {
    this.#spilled = true;
    this.#file = this.#openFile();
    // The window still holds everything: it is larger than the limit and one chunk.
    this.#file?.write(this.#ring.bytes());
  }
}
