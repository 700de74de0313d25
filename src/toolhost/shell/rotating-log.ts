import { closeSync, writeSync } from "node:fs";
import { createFile, moveFile, readPart, sizeOf } from "./state-folder.ts";

const CHUNK_BYTES = 64 * 1024;

/** A file that holds the bytes of a stream from `start` on. */
type Piece = { path: string; start: number; size: number };

/**
 * The log of a background job: `path` has the newest output, `path.old` what came before; together `maxBytes` at most. A
 * full disk ends the log, never the job.
 */
export class RotatingLog {
  readonly path: string;
  readonly #half: number;
  #fd: number | undefined;
  #now: Piece;
  #old: Piece | undefined;
  /** Bytes that came, also those that are not kept. */
  total = 0;
  /** When the last of them came, on the clock of `performance`. */
  writtenAt = 0;

  private constructor(path: string, maxBytes: number) {
    this.path = path;
    this.#half = Math.floor(maxBytes / 2);
    this.#now = { path, start: 0, size: 0 };
  }

  static create(path: string, maxBytes: number): RotatingLog {
    const log = new RotatingLog(path, maxBytes);
    log.#fd = openOrNothing(path);
    return log;
  }

  /** The log that an earlier tool host left; nothing more is written to it. */
  static left(path: string): RotatingLog {
    const log = new RotatingLog(path, 0);
    const size = sizeOf(`${path}.old`);
    if (size > 0) log.#old = { path: `${path}.old`, start: 0, size };
    log.#now = { path, start: size, size: sizeOf(path) };
    log.total = size + log.#now.size;
    return log;
  }

  /** Whether anything can be written to it. */
  get isOpen(): boolean {
    return this.#fd !== undefined;
  }

  write(chunk: Buffer): void {
    const start = this.total;
    this.total += chunk.length;
    this.writtenAt = performance.now();
    if (this.#fd === undefined) return;
    try {
      if (this.#now.size + chunk.length > this.#half) this.#rotate(start);
      if (this.#fd === undefined) return;
      const bytes = chunk.subarray(Math.max(0, chunk.length - this.#half));
      if (this.#now.size === 0) this.#now.start = this.total - bytes.length;
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
      this.#now.size += bytes.length;
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  /** Hands on what came after the first `position` bytes, in pieces; returns how many bytes of it are not kept. */
  readFrom(position: number, take: (chunk: Buffer) => void): number {
    let taken = 0;
    for (const piece of this.#pieces()) {
      const end = piece.start + piece.size;
      for (let at = Math.max(position, piece.start); at < end; ) {
        const chunk = readPart(piece.path, at - piece.start, Math.min(CHUNK_BYTES, end - at));
        if (chunk.length === 0) break;
        take(chunk);
        at += chunk.length;
        taken += chunk.length;
      }
    }
    return this.total - position - taken;
  }

  /** What is kept without a gap up to the newest byte: of a chunk that is larger than a file, the beginning is not. */
  #pieces(): Piece[] {
    const old = this.#old;
    return old && old.start + old.size === this.#now.start ? [old, this.#now] : [this.#now];
  }

  #rotate(start: number): void {
    this.close();
    const old = `${this.path}.old`;
    moveFile(this.path, old);
    this.#old = { ...this.#now, path: old };
    this.#fd = openOrNothing(this.path);
    this.#now = { path: this.path, start, size: 0 };
  }
}

function openOrNothing(path: string): number | undefined {
  try {
    return createFile(path);
  } catch {
    return undefined;
  }
}
