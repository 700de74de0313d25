import type { Writable } from "node:stream";

/** The longest that data stands back: calls in a row may slow a transfer, not stop it. */
const STAND_BACK_MS = 20;

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
  /** Those for whom data stands back. */
  readonly #urgent = new Set<object>();

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

  /**
   * Lets data stand back while something short is awaited, for which it would use up processors and pipes; messages go
   * on. Ends with the function that is returned, or by itself.
   */
  standBack(): () => void {
    const key = {};
    this.#urgent.add(key);
    const timer = setTimeout(() => end(), STAND_BACK_MS);
    const end = (): void => {
      clearTimeout(timer);
      if (this.#urgent.delete(key)) this.#pump();
    };
    return end;
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
      const piece = this.#urgent.size > 0 ? undefined : this.#nextPiece();
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
