import type { Writable } from "node:stream";

/** About what a waiting frame costs in memory beside its bytes: without it, tiny frames would count for nothing. */
const FRAME_COST_BYTES = 512;

type Piece = { frame: Buffer; sent: () => void };

/**
 * Frames on their way out. Messages overtake data; streams take turns; nothing is written while the wire asks to wait,
 * so what is queued is what the other side has not yet read.
 */
export class Outbox {
  readonly #output: Writable;
  readonly #messages: Buffer[] = [];
  readonly #streams = new Map<number, Piece[]>();
  #queuedMessageBytes = 0;
  #blocked = false;

  constructor(output: Writable) {
    this.#output = output;
    output.on("drain", () => {
      this.#blocked = false;
      this.#pump();
    });
  }

  /** Memory that messages take which the wire has not taken yet. */
  get queuedMessageBytes(): number {
    return this.#queuedMessageBytes;
  }

  message(frame: Buffer): void {
    this.#messages.push(frame);
    this.#queuedMessageBytes += frame.length + FRAME_COST_BYTES;
    this.#pump();
  }

  data(stream: number, frame: Buffer, sent: () => void): void {
    const pieces = this.#streams.get(stream);
    if (pieces) pieces.push({ frame, sent });
    else this.#streams.set(stream, [{ frame, sent }]);
    this.#pump();
  }

  /** Forgets what `stream` still wanted to send. */
  drop(stream: number): void {
    this.#streams.delete(stream);
  }

  #pump(): void {
    while (!this.#blocked && this.#output.writable) {
      const message = this.#messages.shift();
      if (message) {
        this.#queuedMessageBytes -= message.length + FRAME_COST_BYTES;
        this.#blocked = !this.#output.write(message);
        continue;
      }
      const piece = this.#nextPiece();
      if (!piece) return;
      this.#blocked = !this.#output.write(piece.frame);
      piece.sent();
    }
  }

  #nextPiece(): Piece | undefined {
    for (const [stream, pieces] of this.#streams) {
      const piece = pieces.shift();
      // Re-inserting moves the stream behind the others.
      this.#streams.delete(stream);
      if (pieces.length > 0) this.#streams.set(stream, pieces);
      if (piece) return piece;
    }
    return undefined;
  }
}
