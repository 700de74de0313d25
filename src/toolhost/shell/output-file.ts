import { closeSync, writeSync } from "node:fs";
import { TailRing } from "./output-ring.ts";
import { createFile } from "./state-folder.ts";

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
