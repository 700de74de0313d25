/** Reads a message whose parts have their length in front. Undefined where it is shorter than it says. */
export class BytesReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Buffer | undefined {
    if (this.#at + length > this.#bytes.length) return undefined;
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  number(size: number): number | undefined {
    return this.take(size)?.readUIntBE(0, size);
  }

  /** What a length of `size` bytes says. */
  vector(size: number): Buffer | undefined {
    const length = this.number(size);
    return length === undefined ? undefined : this.take(length);
  }
}
