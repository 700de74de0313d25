import { createHash, type Hash } from "node:crypto";
import type { Limits } from "../../core/truncate.ts";
import { MAX_EDIT_BYTES } from "./seen.ts";

const NEWLINE = 0x0a;

/**
 * Lines of a file as its bytes stream by, in constant memory: keeps those from line `offset` on, at most what the limits
 * can show and four bytes more, so that a cut character is never mistaken for a broken one.
 */
export class ReadWindow {
  /** Bytes seen. */
  size = 0;
  /** The byte with which the kept lines begin, once it is known. */
  start = 0;
  readonly #skipLines: number;
  readonly #limits: Limits;
  readonly #kept: Buffer[] = [];
  #hash: Hash | undefined = createHash("sha256");
  #keptBytes = 0;
  #newlines = 0;
  #open = false;
  #lastByte = NEWLINE;

  constructor(offset: number, limits: Limits) {
    this.#skipLines = offset - 1;
    this.#limits = limits;
  }

  add(chunk: Buffer): void {
    const start = this.#open ? 0 : this.#startIn(chunk);
    this.#track(chunk);
    if (start !== undefined) this.#keep(chunk.subarray(start));
    this.#newlines += countNewlines(chunk);
    this.#lastByte = chunk.at(-1) ?? this.#lastByte;
  }

  /** Nothing that follows can change what is shown. */
  get full(): boolean {
    return this.#room <= 0 || this.#newlines > this.#skipLines + this.#limits.maxLines;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#kept);
  }

  /** Lines of all bytes seen; the text after a final newline is not a line. */
  get lines(): number {
    return this.#newlines + (this.#lastByte === NEWLINE ? 0 : 1);
  }

  /** Of all bytes seen; undefined above the limit of what can be edited. */
  digest(): string | undefined {
    return this.#hash?.digest("hex");
  }

  get #room(): number {
    return this.#limits.maxBytes + 4 - this.#keptBytes;
  }

  #track(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size > MAX_EDIT_BYTES) this.#hash = undefined;
    this.#hash?.update(chunk);
  }

  #startIn(chunk: Buffer): number | undefined {
    let at = 0;
    for (let missing = this.#skipLines - this.#newlines; missing > 0; missing--) {
      const newline = chunk.indexOf(NEWLINE, at);
      if (newline === -1) return undefined;
      at = newline + 1;
    }
    this.#open = true;
    this.start = this.size + at;
    return at;
  }

  #keep(bytes: Buffer): void {
    const part = bytes.subarray(0, Math.max(0, this.#room));
    if (part.length === 0) return;
    this.#kept.push(Buffer.from(part));
    this.#keptBytes += part.length;
  }
}

// A plain loop: 1 GB/s whatever the length of the lines, where indexOf pays a call for each.
function countNewlines(chunk: Buffer): number {
  // A hole in a file, or a line of megabytes, is passed over ten times as fast.
  if (!chunk.includes(NEWLINE)) return 0;
  let count = 0;
  for (let index = 0; index < chunk.length; index++) if (chunk[index] === NEWLINE) count++;
  return count;
}
