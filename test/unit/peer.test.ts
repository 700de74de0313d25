import { PassThrough, type Readable, Transform } from "node:stream";
import { finished } from "node:stream/promises";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { GloveboxError } from "../../src/core/errors.ts";
import { encodeFrame, u32 } from "../../src/protocol/frames.ts";
import { STREAM_WINDOW_BYTES } from "../../src/protocol/mux-stream.ts";
import { Peer } from "../../src/protocol/peer.ts";

const Message = z.strictObject({ type: z.literal("note"), text: z.string(), stream: z.int().optional() });
type Message = z.infer<typeof Message>;
type TestPeer = Peer<Message, Message>;

class End {
  readonly messages: Message[] = [];
  readonly closed: Promise<GloveboxError | undefined>;
  readonly peer: TestPeer;
  onMessage: (message: Message) => void = () => undefined;

  constructor(input: Readable, output: PassThrough, parity: "odd" | "even") {
    let close: (error: GloveboxError | undefined) => void;
    this.closed = new Promise((resolve) => {
      close = resolve;
    });
    this.peer = new Peer<Message, Message>({
      input,
      output,
      parity,
      incoming: Message,
      onMessage: (message) => {
        this.messages.push(message);
        this.onMessage(message);
      },
      onClose: (error) => close(error),
    });
  }
}

/** Passes bytes on one at a time. */
function crumble(): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at++) this.push(chunk.subarray(at, at + 1));
      done();
    },
  });
}

function pair(through?: Transform): { controller: End; toolHost: End; toController: PassThrough } {
  const toToolHost = new PassThrough();
  const toController = new PassThrough();
  const controller = new End(toController, toToolHost, "odd");
  const toolHost = new End(through ? toToolHost.pipe(through) : toToolHost, toController, "even");
  return { controller, toolHost, toController };
}

function nextMessage(end: End): Promise<Message> {
  return new Promise((resolve) => {
    end.onMessage = resolve;
  });
}

/** By events: an async iterator would destroy the writable half as well. */
function collect(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    stream.on("end", () => resolve(Buffer.concat(chunks)));
    stream.on("error", reject);
  });
}

describe("a peer", () => {
  it("delivers messages whole when the bytes arrive one at a time", async () => {
    const { controller, toolHost } = pair(crumble());
    const arrived = nextMessage(toolHost);
    controller.peer.send({ type: "note", text: "€uro-ß-漢字" });
    expect(await arrived).toEqual({ type: "note", text: "€uro-ß-漢字" });
  });

  it("carries a message of several megabytes in pieces that credit allows", async () => {
    const { controller, toolHost } = pair();
    const text = "é".repeat(2_500_000);
    const arrived = nextMessage(toolHost);
    controller.peer.send({ type: "note", text });
    expect((await arrived).text === text).toBe(true);
  });

  it("answers pings", async () => {
    const { controller } = pair();
    await expect(controller.peer.ping()).resolves.toBeUndefined();
  });

  it("carries a stream both ways with half-close", async () => {
    const { controller, toolHost } = pair();
    toolHost.onMessage = (message) => {
      const stream = toolHost.peer.accept(message.stream ?? 0);
      void collect(stream).then((bytes) => stream.end(`got ${bytes.length}, and a tail`));
    };
    const stream = controller.peer.open();
    controller.peer.send({ type: "note", text: "here", stream: stream.id });
    stream.end(Buffer.alloc(1_000_000, 7));
    expect((await collect(stream)).toString()).toBe("got 1000000, and a tail");
  });

  it("stops a writer at one window while nobody reads, and lets messages pass it", async () => {
    const { controller, toolHost } = pair();
    const accepted = new Promise<Readable>((resolve) => {
      toolHost.onMessage = (message) => message.stream && resolve(toolHost.peer.accept(message.stream));
    });
    const stream = controller.peer.open();
    controller.peer.send({ type: "note", text: "here", stream: stream.id });
    stream.end(Buffer.alloc(STREAM_WINDOW_BYTES * 3));
    const reader = await accepted;
    const arrived = nextMessage(toolHost);
    controller.peer.send({ type: "note", text: "after the flood" });
    await arrived;
    await controller.peer.ping();
    expect(reader.readableLength).toBe(STREAM_WINDOW_BYTES);
    expect((await collect(reader)).length).toBe(STREAM_WINDOW_BYTES * 3);
  });

  it("keeps data back while something short is awaited, not messages, and lets it go on then or by itself", async () => {
    const { controller, toolHost } = pair();
    const accepted = new Promise<Readable>((resolve) => {
      toolHost.onMessage = (message) => message.stream && resolve(toolHost.peer.accept(message.stream));
    });
    const stream = controller.peer.open();
    const goOn = controller.peer.standBack();
    controller.peer.send({ type: "note", text: "here", stream: stream.id });
    stream.write("first");
    const reader = await accepted;
    await controller.peer.ping();
    expect(reader.readableLength).toBe(0);
    goOn();
    await controller.peer.ping();
    expect(reader.readableLength).toBe(5);
    controller.peer.standBack();
    stream.end(" and the rest");
    expect((await collect(reader)).toString()).toBe("first and the rest");
  });

  it("tells the other side when a stream is destroyed", async () => {
    const { controller, toolHost } = pair();
    const accepted = new Promise<Readable>((resolve) => {
      toolHost.onMessage = (message) => resolve(toolHost.peer.accept(message.stream ?? 0));
    });
    const stream = controller.peer.open();
    controller.peer.send({ type: "note", text: "here", stream: stream.id });
    stream.destroy(new Error("no longer wanted"));
    await expect(finished(await accepted)).rejects.toThrow("no longer wanted");
  });

  it("closes once, with the first cause, and destroys its streams", async () => {
    const { controller, toController } = pair();
    const stream = controller.peer.open();
    toController.write(encodeFrame("message", 0, Buffer.from("{")));
    toController.write(encodeFrame("message", 0, Buffer.from("[]")));
    expect((await controller.closed)?.message).toContain("A message is not JSON");
    await expect(finished(stream)).rejects.toThrow("the channel closed");
  });

  it.each([
    ["a message of the wrong shape", encodeFrame("message", 0, Buffer.from('{"type":"note"}')), "wrong shape"],
    [
      "a message with an unknown key",
      encodeFrame("message", 0, Buffer.from('{"type":"note","text":"","x":1}')),
      "wrong shape",
    ],
    ["data on a stream that nobody opened", encodeFrame("data", 2, Buffer.from("x")), "which nobody opened"],
    ["data on a stream of ours that we did not open", encodeFrame("data", 1, Buffer.from("x")), "which nobody opened"],
    ["a short credit", encodeFrame("credit", 2, Buffer.from("x")), "which nobody opened"],
    ["a ping that carries more", encodeFrame("ping", 0, Buffer.alloc(1_000_000)), "1000000 bytes where 4 are expected"],
    ["a ping without a number", encodeFrame("pong", 0, Buffer.from("x")), "1 bytes where 4 are expected"],
    [
      "a large message on a stream of ours",
      encodeFrame("message", 0, Buffer.from('{"type":"large","stream":1,"bytes":5}')),
      "cannot be opened",
    ],
  ])("closes the channel on %s", async (_, bytes, words) => {
    const { controller, toController } = pair();
    toController.write(bytes);
    expect((await controller.closed)?.message).toContain(words);
  });

  it("closes the channel when a stream sends more than its credit", async () => {
    const { controller, toController } = pair();
    controller.onMessage = (message) => controller.peer.accept(message.stream ?? 0);
    toController.write(encodeFrame("message", 0, Buffer.from('{"type":"note","text":"","stream":2}')));
    for (let sent = 0; sent <= STREAM_WINDOW_BYTES; sent += 65_536)
      toController.write(encodeFrame("data", 2, Buffer.alloc(65_536)));
    expect((await controller.closed)?.message).toBe("Stream 2 sent more than its credit");
  });

  it("closes the channel when it is pinged and its answers are not read", async () => {
    const toController = new PassThrough();
    const unread = new PassThrough();
    const controller = new End(toController, unread, "odd");
    const ping = encodeFrame("ping", 0, u32(1));
    const many = Buffer.concat(Array.from({ length: 10_000 }, () => ping));
    for (let round = 0; round < 30 && !controller.peer.isClosed; round++) {
      toController.write(many);
      await new Promise(setImmediate);
    }
    expect((await controller.closed)?.message).toContain("stopped reading");
  });

  it("closes the channel when too many streams are opened on it", async () => {
    const { controller, toController } = pair();
    controller.onMessage = (message) => controller.peer.accept(message.stream ?? 0);
    for (let id = 2; id <= 2 * 1026; id += 2) {
      toController.write(encodeFrame("message", 0, Buffer.from(`{"type":"note","text":"","stream":${id}}`)));
    }
    expect((await controller.closed)?.message).toBe("Too many streams are open at once");
  });

  it("closes the channel when it is granted more than a window", async () => {
    const { controller, toController } = pair();
    const stream = controller.peer.open();
    toController.write(encodeFrame("credit", stream.id, u32(1)));
    expect((await controller.closed)?.message).toContain("more than a window");
  });

  it("says that the other side ended when its bytes end", async () => {
    const { controller, toController } = pair();
    toController.end();
    expect(await controller.closed).toBeUndefined();
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])("survives random bytes and mangled frames (seed %i)", async (seed) => {
    const random = lcg(seed);
    const { controller, toController } = pair();
    for (let round = 0; round < 400 && !controller.peer.isClosed; round++) {
      const frame = encodeFrame("message", 0, Buffer.from('{"type":"note","text":"hello"}'));
      const flips = random() % 3;
      for (let flip = 0; flip < flips; flip++) frame[random() % frame.length] = random() % 256;
      toController.write(frame);
      await new Promise(setImmediate);
    }
    toController.end(Buffer.from(Array.from({ length: 64 }, () => random() % 256)));
    const error = await controller.closed;
    expect(error === undefined || error.code === "PROTOCOL").toBe(true);
  });
});

/** A small deterministic generator (Numerical Recipes' constants), so that a failing seed can be repeated. */
function lcg(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
}
