import type { Readable, Writable } from "node:stream";
import * as z from "zod";
import { type GloveboxError, messageOf, toGloveboxError } from "../core/errors.ts";
import { clip, headBytes } from "../core/truncate.ts";
import { encodeFrame, type Frame, FrameReader, protocolError, readU32, u32 } from "./frames.ts";
import { MuxStream, type MuxWire } from "./mux-stream.ts";
import { Outbox } from "./outbox.ts";

/** A message longer than this travels on a stream of its own, so that it waits for credit like any bulk. */
const LARGE_MESSAGE_BYTES = 512 * 1024;
/** The longest message either side accepts: a 20 MiB picture in base64, with room. */
/** Why a stream was reset, as it is sent and as it is taken. */
const MAX_REASON_BYTES = 500;
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
const MAX_LARGE_MESSAGES = 16;
/** Streams the other side may have open at once: one a running call and one a connection, with room. */
const MAX_ACCEPTED_STREAMS = 1024;
/** Frames, but for data, waiting for a side that does not read; above it that side is taken for dead. */
const MAX_QUEUED_MESSAGE_BYTES = 64 * 1024 * 1024;

const Large = z.strictObject({
  type: z.literal("large"),
  stream: z.int().min(1),
  bytes: z.int().min(0).max(MAX_MESSAGE_BYTES),
});

export type PeerOptions<Incoming> = {
  input: Readable;
  output: Writable;
  /** Everything the other side says is parsed by this, or the channel closes. */
  incoming: z.ZodType<Incoming>;
  onMessage: (message: Incoming) => void;
  /** Called once, when the channel is over; `error` is the first cause, undefined when the other side ended it. */
  onClose: (error: GloveboxError | undefined) => void;
  /** Streams this side opens have odd ids (controller) or even ones (tool host). */
  parity: "odd" | "even";
};

/** One end of a channel: messages, and byte streams beside them. Closing it closes every stream. */
export class Peer<Incoming, Outgoing> {
  readonly #options: PeerOptions<Incoming>;
  readonly #outbox: Outbox;
  readonly #reader = new FrameReader();
  readonly #streams = new Map<number, MuxStream>();
  readonly #pings = new Map<number, () => void>();
  readonly #wire: MuxWire;
  #nextStream: number;
  #highestAccepted = 0;
  #largeMessages = 0;
  #nextPing = 1;
  #closed = false;
  /** Milliseconds of `performance.now()` when the last frame came. */
  lastFrameAt = performance.now();

  constructor(options: PeerOptions<Incoming>) {
    this.#options = options;
    this.#outbox = new Outbox(options.output);
    this.#nextStream = options.parity === "odd" ? 1 : 2;
    this.#wire = {
      data: (stream, body, sent) => this.#outbox.data(stream, encodeFrame("data", stream, body), sent),
      end: (stream, sent) => this.#outbox.data(stream, encodeFrame("end", stream, Buffer.alloc(0)), sent),
      credit: (stream, body) => this.#enqueue(encodeFrame("credit", stream, body)),
      reset: (stream, reason) => this.#reset(stream, reason),
      closed: (stream) => this.#streams.delete(stream),
    };
    options.input.on("data", (chunk: Buffer) => this.#receive(chunk));
    options.input.on("end", () => this.close());
    options.input.on("error", (error) => this.close(protocolError(`The channel broke: ${messageOf(error)}`)));
    options.output.on("error", (error) => this.close(protocolError(`The channel broke: ${messageOf(error)}`)));
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  send(message: Outgoing): void {
    if (this.#closed) return;
    const bytes = Buffer.from(JSON.stringify(message), "utf8");
    if (bytes.length > MAX_MESSAGE_BYTES)
      throw protocolError(`A message of ${bytes.length} bytes is too large to send`);
    if (bytes.length > LARGE_MESSAGE_BYTES) return this.#sendLarge(bytes);
    this.#sendFrame(bytes);
  }

  /** See {@link Outbox.standBack}. */
  standBack(): () => void {
    return this.#outbox.standBack();
  }

  /** Opens a stream. The other side must hear of its id in a message before the first byte, and `accept` it. */
  open(): MuxStream {
    const id = this.#nextStream;
    this.#nextStream += 2;
    return this.#register(id);
  }

  /** Takes a stream the other side has opened. @throws GloveboxError `PROTOCOL` for an id that it cannot have opened. */
  accept(id: number): MuxStream {
    if (id % 2 === this.#nextStream % 2 || id <= this.#highestAccepted) {
      throw protocolError(`Stream ${id} cannot be opened by the other side`);
    }
    if (this.#streams.size >= MAX_ACCEPTED_STREAMS) throw protocolError("Too many streams are open at once");
    this.#highestAccepted = id;
    return this.#register(id);
  }

  /** Resolves when the other side has answered; never, if the channel closes first. */
  ping(): Promise<void> {
    const number = this.#nextPing++ % 0xffffffff;
    return new Promise((resolve) => {
      this.#pings.set(number, resolve);
      this.#enqueue(encodeFrame("ping", 0, u32(number)));
    });
  }

  /** Ends the channel; the first error given is the one reported. Does not close `input` or `output`. */
  close(error?: GloveboxError): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const stream of this.#streams.values()) stream.receiveReset("the channel closed");
    this.#options.onClose(error);
  }

  #register(id: number): MuxStream {
    const stream = new MuxStream(id, this.#wire);
    this.#streams.set(id, stream);
    return stream;
  }

  #reset(stream: number, reason: string): void {
    this.#outbox.drop(stream);
    if (!this.#closed) this.#enqueue(encodeFrame("reset", stream, Buffer.from(headBytes(reason, MAX_REASON_BYTES))));
  }

  #sendFrame(body: Buffer): void {
    this.#enqueue(encodeFrame("message", 0, body));
  }

  #enqueue(frame: Buffer): void {
    this.#outbox.message(frame);
    if (this.#outbox.queuedMessageBytes > MAX_QUEUED_MESSAGE_BYTES) {
      this.close(protocolError("The other end of the channel has stopped reading"));
    }
  }

  #sendLarge(bytes: Buffer): void {
    const stream = this.open();
    const envelope: z.infer<typeof Large> = { type: "large", stream: stream.id, bytes: bytes.length };
    this.#sendFrame(Buffer.from(JSON.stringify(envelope)));
    stream.end(bytes);
    // Nothing comes back on it; reading to the end lets both sides forget it.
    stream.resume();
  }

  #receive(chunk: Buffer): void {
    if (this.#closed) return;
    this.lastFrameAt = performance.now();
    try {
      for (const frame of this.#reader.push(chunk)) {
        this.#handle(frame);
        if (this.#closed) return;
      }
    } catch (error) {
      this.close(toGloveboxError(error));
    }
  }

  #handle(frame: Frame): void {
    switch (frame.kind) {
      case "message":
        return this.#handleMessage(frame.body);
      case "ping":
        return this.#enqueue(encodeFrame("pong", 0, u32(readU32(frame.body, "ping"))));
      case "pong":
        return this.#handlePong(readU32(frame.body, "pong"));
      case "data":
        return this.#streamOf(frame)?.receive(frame.body);
      case "end":
        return this.#streamOf(frame)?.receiveEnd();
      case "credit":
        return this.#streamOf(frame)?.receiveCredit(readU32(frame.body, "credit"));
      case "reset":
        return this.#streamOf(frame)?.receiveReset(headBytes(frame.body.toString("utf8"), MAX_REASON_BYTES));
      default:
        return frame.kind satisfies never;
    }
  }

  #handlePong(number: number): void {
    this.#pings.get(number)?.();
    this.#pings.delete(number);
  }

  /** A stream that is over may still have frames on the way; one that never was is a violation. */
  #streamOf(frame: Frame): MuxStream | undefined {
    const known = frame.stream % 2 === this.#nextStream % 2 ? this.#nextStream - 2 : this.#highestAccepted;
    if (frame.stream === 0 || frame.stream > known) {
      throw protocolError(`A ${frame.kind} frame came for stream ${frame.stream}, which nobody opened`);
    }
    return this.#streams.get(frame.stream);
  }

  #handleMessage(body: Buffer): void {
    const value = parseJson(body);
    const large = Large.safeParse(value);
    if (large.success) return this.#receiveLarge(large.data.stream, large.data.bytes);
    this.#deliver(value);
  }

  #receiveLarge(id: number, bytes: number): void {
    if (++this.#largeMessages > MAX_LARGE_MESSAGES) throw protocolError("Too many large messages came at once");
    const stream = this.accept(id);
    const chunks: Buffer[] = [];
    let received = 0;
    stream.on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (received > bytes) return this.close(protocolError("A large message is longer than it said"));
      chunks.push(chunk);
    });
    stream.on("close", () => this.#largeMessages--);
    stream.on("end", () => {
      stream.end();
      try {
        this.#deliver(parseJson(Buffer.concat(chunks)));
      } catch (error) {
        this.close(toGloveboxError(error));
      }
    });
  }

  #deliver(value: unknown): void {
    const parsed = this.#options.incoming.safeParse(value);
    if (!parsed.success)
      throw protocolError(`A message has the wrong shape: ${clip(z.prettifyError(parsed.error), 500)}`);
    this.#options.onMessage(parsed.data);
  }
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (error) {
    throw protocolError(`A message is not JSON: ${clip(messageOf(error), 200)}`);
  }
}
