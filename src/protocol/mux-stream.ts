import { Duplex } from "node:stream";
import { protocolError, u32 } from "./frames.ts";

/**
 * Bytes a stream may send before the reader grants more, each way. Twice as many made a bulk transfer a sixth faster, and
 * the messages that wait behind one in the pipes twice as slow.
 */
export const STREAM_WINDOW_BYTES = 128 * 1024;
/** Data goes out in pieces this small, so that a message never waits behind a long one. */
export const DATA_PIECE_BYTES = 64 * 1024;
/** Credit goes back when a quarter of the window has been read: few frames, and the sender never runs dry. */
const CREDIT_STEP_BYTES = STREAM_WINDOW_BYTES / 4;

/** What a stream needs of its peer. `sent` is called once the frame has been handed to the wire. */
export type MuxWire = {
  data: (stream: number, body: Buffer, sent: () => void) => void;
  end: (stream: number, sent: () => void) => void;
  credit: (stream: number, body: Buffer) => void;
  reset: (stream: number, reason: string) => void;
  closed: (stream: number) => void;
};

type Waiting = { bytes: Buffer; done: (error?: Error | null) => void };

/**
 * One of many byte streams over a channel, with half-close and credit. Destroying it before both ends have finished
 * resets the other side.
 */
export class MuxStream extends Duplex {
  readonly id: number;
  readonly #wire: MuxWire;
  #sendWindow = STREAM_WINDOW_BYTES;
  #receiveWindow = STREAM_WINDOW_BYTES;
  #waiting: Waiting | undefined;
  #remoteReset = false;

  constructor(id: number, wire: MuxWire) {
    super({ readableHighWaterMark: STREAM_WINDOW_BYTES, writableHighWaterMark: DATA_PIECE_BYTES, allowHalfOpen: true });
    this.id = id;
    this.#wire = wire;
    // A reset stream has no reader that must hear of it; whoever reads gets the error from its own listener.
    this.on("error", () => undefined);
  }

  /** Bytes the other side has sent. @throws GloveboxError `PROTOCOL` when it sent more than it was granted. */
  receive(body: Buffer): void {
    if (this.readableEnded || this.destroyed) return;
    if (body.length > this.#receiveWindow) throw protocolError(`Stream ${this.id} sent more than its credit`);
    this.#receiveWindow -= body.length;
    this.push(body);
  }

  receiveEnd(): void {
    if (!this.destroyed) this.push(null);
  }

  receiveReset(reason: string): void {
    this.#remoteReset = true;
    this.destroy(new Error(reason));
  }

  receiveCredit(bytes: number): void {
    this.#sendWindow += bytes;
    if (this.#sendWindow > STREAM_WINDOW_BYTES) throw protocolError(`Stream ${this.id} was granted more than a window`);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) this.#send(waiting);
  }

  /** Grants what has been read: here and not in `_read`, which Node calls before it takes a chunk off the buffer. */
  override read(size?: number): unknown {
    const chunk: unknown = super.read(size);
    const readSince = STREAM_WINDOW_BYTES - this.#receiveWindow - this.readableLength;
    if (readSince >= CREDIT_STEP_BYTES && !this.destroyed) {
      this.#receiveWindow += readSince;
      this.#wire.credit(this.id, u32(readSince));
    }
    return chunk;
  }

  override _read(): void {
    // Bytes come when the other side sends them; see `receive`.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send({ bytes: chunk, done });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#wire.end(this.id, done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const finished = this.readableEnded && this.writableFinished;
    if (!finished && !this.#remoteReset) this.#wire.reset(this.id, error?.message ?? "closed");
    this.#waiting?.done(error);
    this.#waiting = undefined;
    this.#wire.closed(this.id);
    done(error);
  }

  #send({ bytes, done }: Waiting): void {
    if (bytes.length === 0) return done();
    const size = Math.min(bytes.length, this.#sendWindow, DATA_PIECE_BYTES);
    if (size === 0) {
      this.#waiting = { bytes, done };
      return;
    }
    this.#sendWindow -= size;
    const rest = bytes.subarray(size);
    this.#wire.data(this.id, bytes.subarray(0, size), () => this.#send({ bytes: rest, done }));
  }
}
