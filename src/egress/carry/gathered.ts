const EMPTY = Buffer.alloc(0);

/** Bytes that come in pieces of any size, in one place: byte by byte costs no more than all at once. */
export class Gathered {
  #space = EMPTY;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Valid until more is added. */
  get bytes(): Buffer {
    return this.#space.subarray(0, this.#length);
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#space.length) {
      const space = Buffer.allocUnsafe(Math.max(length, this.#space.length * 2, 64));
      this.bytes.copy(space);
      this.#space = space;
    }
    piece.copy(this.#space, this.#length);
    this.#length = length;
  }

  /** All of it, and begins anew. */
  take(): Buffer {
    const bytes = this.bytes;
    this.#space = EMPTY;
    this.#length = 0;
    return bytes;
  }
}
