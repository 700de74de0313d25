/** One record of a stream; of one above the limit only its beginning, up to the limit or so, and its end. */
export type StreamRecord =
  | { type: "whole"; bytes: Buffer }
  | { type: "overlong"; head: Buffer; tail: Buffer; size: number };

/** Bytes kept of the end of a record that is too long; of its beginning it is all that was taken. */
const END_BYTES = 64 * 1024;

/**
 * Gives `take` the records of a byte stream, without the delimiter, until it returns false; in memory bounded by
 * `maxBytes` whatever arrives. The last one needs no delimiter. No promise a record: there may be a million.
 */
export async function takeRecords(
  stream: AsyncIterable<Buffer>,
  { delimiter, maxBytes }: { delimiter: number; maxBytes: number },
  take: (record: StreamRecord) => boolean,
): Promise<void> {
  let record = new GrowingRecord(maxBytes);
  for await (const chunk of stream) {
    let at = 0;
    for (let end = chunk.indexOf(delimiter); end !== -1; end = chunk.indexOf(delimiter, at)) {
      const bytes = chunk.subarray(at, end);
      at = end + 1;
      // Nearly every record lies in one chunk, and is handed on as it is.
      if (record.size === 0 && bytes.length <= maxBytes) {
        if (!take({ type: "whole", bytes })) return;
        continue;
      }
      record.add(bytes);
      if (!take(record.take())) return;
      record = new GrowingRecord(maxBytes);
    }
    record.add(chunk.subarray(at));
  }
  if (record.size > 0) take(record.take());
}

class GrowingRecord {
  size = 0;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #head: Buffer | undefined;
  #tail = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.size += bytes.length;
    if (this.#head !== undefined) this.#keepTail(bytes);
    else this.#parts.push(bytes);
    if (this.#head === undefined && this.size > this.#maxBytes) this.#giveUp();
  }

  take(): StreamRecord {
    if (this.#head === undefined) return { type: "whole", bytes: Buffer.concat(this.#parts) };
    return { type: "overlong", head: this.#head, tail: this.#tail, size: this.size };
  }

  #giveUp(): void {
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#head = bytes;
    this.#keepTail(bytes);
  }

  #keepTail(bytes: Buffer): void {
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(-END_BYTES)]).subarray(-END_BYTES);
  }
}
