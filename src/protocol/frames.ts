import { GloveboxError } from "../core/errors.ts";

/**
 * The wire between controller and tool host. A frame is
 *
 *     u32 length (of all that follows it) · u8 kind · u32 stream id · body
 *
 * in network byte order. `message` carries one JSON object on stream 0, `data` raw bytes, `credit` a u32 of bytes the
 * sender may send more, `end` half-closes a stream, `reset` ends it both ways with a reason in UTF-8, `ping` and
 * `pong` carry a u32 that comes back.
 */
export const FRAME_KINDS = { message: 1, data: 2, credit: 3, end: 4, reset: 5, ping: 6, pong: 7 } as const;
export type FrameKind = keyof typeof FRAME_KINDS;
export type Frame = { kind: FrameKind; stream: number; body: Buffer };

/** Bytes of length, kind and stream id. */
const HEADER_BYTES = 9;
/** Counted by `length`: kind and stream id. */
const COUNTED_HEADER_BYTES = 5;

/** The most a frame's body may hold: 1 MiB, so that a hostile length costs a bounded buffer. */
export const MAX_BODY_BYTES = 1024 * 1024;

export function encodeFrame(kind: FrameKind, stream: number, body: Uint8Array): Buffer {
  if (body.length > MAX_BODY_BYTES) throw protocolError(`A ${kind} frame of ${body.length} bytes is too large`);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  frame.writeUInt32BE(COUNTED_HEADER_BYTES + body.length, 0);
  frame.writeUInt8(FRAME_KINDS[kind], 4);
  frame.writeUInt32BE(stream, 5);
  frame.set(body, HEADER_BYTES);
  return frame;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function readU32(body: Buffer, what: string): number {
  if (body.length !== 4) throw protocolError(`A ${what} frame has ${body.length} bytes where 4 are expected`);
  return body.readUInt32BE();
}

/** Cuts a byte stream into frames, whatever its chunks; holds at most one incomplete frame. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #buffered = 0;

  /**
   * The frames that `chunk` completes.
   * @throws GloveboxError `PROTOCOL` for an unknown kind or an impossible length, as soon as its header is seen.
   */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    const frames: Frame[] = [];
    for (let frame = this.#next(); frame; frame = this.#next()) frames.push(frame);
    return frames;
  }

  #next(): Frame | undefined {
    if (this.#buffered < HEADER_BYTES) return undefined;
    const header = this.#peek(HEADER_BYTES);
    const length = header.readUInt32BE(0) - COUNTED_HEADER_BYTES;
    const kind = KIND_BY_NUMBER.get(header.readUInt8(4));
    if (!kind) throw protocolError(`A frame of the unknown kind ${header.readUInt8(4)} came`);
    if (length < 0 || length > MAX_BODY_BYTES) throw protocolError(`A ${kind} frame says it is ${length} bytes long`);
    if (this.#buffered < HEADER_BYTES + length) return undefined;
    const whole = this.#take(HEADER_BYTES + length);
    return { kind, stream: whole.readUInt32BE(5), body: whole.subarray(HEADER_BYTES) };
  }

  #peek(size: number): Buffer {
    const first = this.#chunks[0];
    if (first && first.length >= size) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }

  #take(size: number): Buffer {
    const joined = this.#peek(size);
    this.#buffered -= size;
    if (joined.length === size) this.#chunks.shift();
    else this.#chunks[0] = joined.subarray(size);
    return joined.subarray(0, size);
  }
}

const KIND_BY_NUMBER: ReadonlyMap<number, FrameKind> = new Map(
  (Object.keys(FRAME_KINDS) as FrameKind[]).map((kind) => [FRAME_KINDS[kind], kind]),
);

export function protocolError(message: string): GloveboxError {
  return new GloveboxError("PROTOCOL", message, {
    hint: "The other end of the sandbox channel misbehaved; the session cannot go on in this container",
  });
}
