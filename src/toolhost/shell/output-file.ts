import { closeSync, writeSync } from "node:fs";
import { TailRing } from "./output-ring.ts";
import { createFile, moveFile } from "./state-folder.ts";

/** The tail of a capped file waits in memory; 4 MiB is far more than anyone reads of an end. */
const MAX_TAIL_BYTES = 4 * 1024 * 1024;

/**
 * A file of at most `maxBytes` (and one line that says what is missing): the head as it comes, the tail when closed.
 * A full disk stops the writing, never the command.
 */
export class CappedFile {
  readonly path: string;
  readonly #headRoom: number;
  readonly #tail: TailRing;
  readonly #tailRoom: number;
  #fd: number | undefined;
  #head = 0;
  #rest = 0;

  constructor(path: string, maxBytes: number) {
    this.path = path;
    this.#tailRoom = Math.min(MAX_TAIL_BYTES, Math.floor(maxBytes / 2));
    this.#headRoom = maxBytes - this.#tailRoom;
    this.#tail = new TailRing(this.#tailRoom);
    this.#fd = createFile(path);
  }

  /** Whether every byte is in the file. */
  get whole(): boolean {
    return this.#fd !== undefined && this.#rest <= this.#tailRoom;
  }

  write(chunk: Buffer): void {
    const room = this.#headRoom - this.#head;
    const head = room > 0 ? chunk.subarray(0, room) : undefined;
    if (head) {
      this.#append(head);
      this.#head += head.length;
    }
    if (head && head.length === chunk.length) return;
    const rest = chunk.subarray(head?.length ?? 0);
    this.#rest += rest.length;
    this.#tail.push(rest);
  }

  close(): void {
    const missing = this.#rest - this.#tailRoom;
    if (missing > 0) this.#append(Buffer.from(`\n[${missing} bytes are missing here: the file is full]\n`));
    this.#append(this.#tail.bytes());
    if (this.#fd !== undefined) closeSync(this.#fd);
  }

  #append(bytes: Buffer): void {
    if (this.#fd === undefined) return;
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
    } catch {
      closeSync(this.#fd);
      this.#fd = undefined;
    }
  }
}

/**
 * The log of a background job: `path` has the newest output, `path.old` what came before; together `maxBytes` at most. A
 * full disk ends the log, never the job.
 */
export class RotatingLog {
  readonly path: string;
  readonly #half: number;
  #fd: number | undefined;
  #size = 0;

  constructor(path: string, maxBytes: number) {
    this.path = path;
    this.#half = Math.floor(maxBytes / 2);
    this.#fd = openOrNothing(path);
  }

  /** Whether anything can be written to it. */
  get isOpen(): boolean {
    return this.#fd !== undefined;
  }

  write(chunk: Buffer): void {
    if (this.#fd === undefined) return;
    try {
      if (this.#size + chunk.length > this.#half) this.#rotate();
      if (this.#fd === undefined) return;
      const bytes = chunk.subarray(Math.max(0, chunk.length - this.#half));
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
      this.#size += bytes.length;
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #rotate(): void {
    this.close();
    moveFile(this.path, `${this.path}.old`);
    this.#fd = openOrNothing(this.path);
    this.#size = 0;
  }
}

function openOrNothing(path: string): number | undefined {
  try {
    return createFile(path);
  } catch {
    return undefined;
  }
}
