const FIRST_BYTES = 4096;

/** The last `capacity` bytes of a stream. Grows only as far as it is filled; chunks are copied, so tiny ones cost no more. */
export class TailRing {
  readonly #capacity: number;
  #buffer = Buffer.alloc(0);
  #size = 0;
  #next = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  push(chunk: Buffer): void {
    const kept = chunk.subarray(Math.max(0, chunk.length - this.#capacity));
    if (kept.length === 0) return;
    this.#reserve(Math.min(this.#capacity, this.#size + kept.length));
    const room = this.#buffer.length - this.#next;
    kept.copy(this.#buffer, this.#next, 0, room);
    kept.copy(this.#buffer, 0, Math.min(room, kept.length));
    this.#next = (this.#next + kept.length) % this.#buffer.length;
    this.#size = Math.min(this.#buffer.length, this.#size + kept.length);
  }

  /** A copy, oldest byte first. */
  bytes(): Buffer {
    const begin = this.#next - this.#size;
    if (begin >= 0) return Buffer.from(this.#buffer.subarray(begin, this.#next));
    return Buffer.concat([this.#buffer.subarray(begin), this.#buffer.subarray(0, this.#next)]);
  }

  #reserve(wanted: number): void {
    if (this.#buffer.length >= wanted) return;
    const bytes = this.bytes();
    this.#buffer = Buffer.allocUnsafe(Math.min(this.#capacity, Math.max(FIRST_BYTES, wanted, 2 * bytes.length)));
    bytes.copy(this.#buffer);
    this.#next = bytes.length % this.#buffer.length;
    this.#size = bytes.length;
  }
}
