import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { GloveboxError, messageOf } from "../core/errors.ts";
import type { Origin } from "../core/outlet.ts";
import type { Appeared } from "../core/quarantine.ts";
import { visibleLine } from "../core/visible.ts";
import {
  type Control,
  type Hello,
  type Links,
  type MountsChanged,
  PROTOCOL_VERSION,
  type Ready,
  type SelfTestExpectation,
  ToController,
  type ToToolHost,
} from "../protocol/messages.ts";
import { Peer } from "../protocol/peer.ts";
import type { CallNumbers } from "./call-numbers.ts";
import { type CallAnswer, Calls } from "./calls.ts";
import { lost } from "./lost.ts";
import { Questions, type Within } from "./questions.ts";
import type { CallOptions, HostSide, SandboxCall } from "./sandbox.ts";

/** A ping goes out this often, and the tool host ends itself after 30 s without one. */
const PING_EVERY_MS = 5_000;
/** Without an answer for this long the channel is taken for lost. */
const PONG_WITHIN_MS = 15_000;
/** How long a tool host may take to say `ready`, on a machine under load. */
const READY_WITHIN_MS = 20_000;

/** A workspace of a million files, and 256 MiB to be packed for each of several paths. */
const SCAN_WITHIN_MS = 60_000;
const SWEEP_WITHIN_MS = 600_000;

/** The bytes of a channel. `destroy` ends it from our side. */
export type ChannelStreams = { input: Readable; output: Writable; destroy: () => void };

/**
 * The controller's end of one tool host, wherever that runs. Made by {@link connect}; over when `closed` resolves,
 * with the first cause.
 */
export class ToolHostConnection {
  readonly #peer: Peer<ToController, ToToolHost>;
  readonly #streams: ChannelStreams;
  readonly #calls: Calls;
  readonly #questions: Questions;
  readonly #host: HostSide;
  readonly #numbers: CallNumbers;
  readonly closed: Promise<GloveboxError>;
  /** What a call rejects with that had not begun when mounts changed. */
  readonly unbegun = lost("The call had not begun when mounts of the workspace changed");
  /** Why the channel was closed, if mounts of the workspace are gone. */
  changed: MountsChanged | undefined;
  #onReady: (ready: Ready) => void = () => undefined;
  #onBye: (left: number) => void = () => undefined;
  #close: (error: GloveboxError) => void = () => undefined;
  /** Other frames prove only that somebody writes. */
  #lastPongAt = 0;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(streams: ChannelStreams, host: HostSide, numbers: CallNumbers) {
    this.#streams = streams;
    this.#host = host;
    this.#numbers = numbers;
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
    this.#peer = new Peer({
      input: streams.input,
      output: streams.output,
      incoming: ToController,
      parity: "odd",
      onMessage: (message) => this.#receive(message),
      onClose: (error) => this.#end(error ?? lost("The tool host ended")),
    });
    const within: Within = (answer, withinMs, words) => this.#within(answer, withinMs, words);
    this.#calls = new Calls({ peer: this.#peer, numbers, within });
    this.#questions = new Questions({
      send: (question) => this.#peer.send(question),
      within,
    });
  }

  get isOpen(): boolean {
    return !this.#peer.isClosed;
  }

  /** Shakes hands. @throws GloveboxError `PROTOCOL` for another version, `SANDBOX_LOST` when no answer comes. */
  async greet(hello: Omit<Hello, "type" | "protocol">): Promise<Ready> {
    const answer = new Promise<Ready>((resolve) => {
      this.#onReady = resolve;
    });
    this.#peer.send({ type: "hello", protocol: PROTOCOL_VERSION, ...hello });
    const ready = await this.#within(answer, READY_WITHIN_MS, "The tool host did not answer");
    if (ready.protocol !== PROTOCOL_VERSION) {
      throw new GloveboxError(
        "PROTOCOL",
        `The tool host speaks protocol ${ready.protocol}, this controller ${PROTOCOL_VERSION}`,
        {
          hint: "Run `glovebox image build`",
        },
      );
    }
    this.#lastPongAt = performance.now();
    this.#heartbeat = setInterval(() => void this.#beat(), PING_EVERY_MS);
    this.#heartbeat.unref();
    return ready;
  }

  /** Rejects with the cause when the channel ends first or the deadline passes; the call may have had effects then. */
  call(call: SandboxCall, options: CallOptions): Promise<CallAnswer> {
    return this.#calls.run(call, options);
  }

  async selfTest(expect: SelfTestExpectation): Promise<Control[]> {
    const question = { type: "self_test" as const, id: this.#numbers.next(), expect };
    return (await this.#questions.ask(question, "self_tested", READY_WITHIN_MS)).controls;
  }

  /** Looks for files of the workspace that have names outside it. */
  scanLinks(): Promise<Links> {
    return this.#questions.ask({ type: "scan_links", id: this.#numbers.next() }, "links", SCAN_WITHIN_MS);
  }

  /** Moves out of the workspace what is at these paths; resolves with what could not be. */
  async sweep(paths: readonly Appeared[]): Promise<string[]> {
    const question = { type: "sweep" as const, id: this.#numbers.next(), paths: [...paths] };
    return (await this.#questions.ask(question, "swept", SWEEP_WITHIN_MS)).problems;
  }

  /** Unpacks an archive where nothing is yet; resolves with why not, undefined when it has been. */
  async restore(path: string, archive: Readable): Promise<string | undefined> {
    const stream = this.#peer.open();
    const question = { type: "restore" as const, id: this.#numbers.next(), path, stream: stream.id };
    const answer = this.#questions.ask(question, "restored", SWEEP_WITHIN_MS);
    stream.resume();
    // A tool host that refuses stops reading, and says why.
    await pipeline(archive, stream).catch(() => undefined);
    return (await answer).problem;
  }

  /** Asks the tool host to end everything; resolves with how many processes were left, or -1 when it did not say. */
  async shutdown(withinMs: number): Promise<number> {
    const answer = new Promise<number>((resolve) => {
      this.#onBye = resolve;
    });
    this.#peer.send({ type: "shutdown" });
    return this.#within(answer, withinMs, "The tool host did not end").catch(() => -1);
  }

  /** Ends the channel from our side; every open call rejects with `error`. */
  destroy(error: GloveboxError = lost("The channel was closed")): void {
    this.#peer.close(error);
  }

  #receive(message: ToController): void {
    switch (message.type) {
      case "ready":
        return this.#onReady(message);
      case "output":
        return this.#calls.show(message);
      case "result":
        return this.#calls.settle(message);
      case "self_tested":
      case "links":
      case "swept":
      case "restored":
        return this.#questions.settle(message);
      case "quarantine":
        return void this.#store(message);
      case "mounts_changed":
        return this.#leave(message);
      case "name":
        return void this.#lookUp(message);
      case "connect":
        return this.#connect(message);
      case "bye":
        return this.#onBye(message.left);
      default:
        return message satisfies never;
    }
  }

  async #store({ id, stream, item }: Extract<ToController, { type: "quarantine" }>): Promise<void> {
    const archive = this.#peer.accept(stream);
    const problem = await this.#host.keep(item, archive).then(
      () => undefined,
      (error: unknown) => messageOf(error),
    );
    archive.destroy();
    this.#peer.send({ type: "kept", id, ...(problem !== undefined && { problem }) });
  }

  async #lookUp({ id, name, ...origin }: Extract<ToController, { type: "name" }>): Promise<void> {
    const admitted = await this.#host.outlet.lookup(name, this.#originOf(origin));
    this.#peer.send({ type: "named", id, ...(admitted && { admitted: { ...admitted, ports: [...admitted.ports] } }) });
  }

  #connect({ stream, to, ...origin }: Extract<ToController, { type: "connect" }>): void {
    this.#host.outlet.connect(to, this.#originOf(origin), this.#peer.accept(stream));
  }

  #originOf({ call, assumed }: { call: number | null; assumed: boolean }): Origin {
    return { callId: this.#numbers.callIdOf(call), assumed };
  }

  #leave(change: MountsChanged): void {
    this.changed = change;
    this.#calls.reject(this.unbegun, (id) => !change.running.includes(id));
    const paths = change.paths.map(visibleLine).join(", ");
    this.destroy(lost(`Mounts of the workspace were detached on the host: ${paths}`));
  }

  async #beat(): Promise<void> {
    const silentMs = performance.now() - this.#lastPongAt;
    if (silentMs > PONG_WITHIN_MS)
      return this.destroy(lost(`The sandbox has not answered for ${Math.round(silentMs / 1000)} s`));
    await this.#peer.ping();
    this.#lastPongAt = performance.now();
  }

  #end(error: GloveboxError): void {
    clearInterval(this.#heartbeat);
    this.#streams.destroy();
    this.#calls.reject(error);
    this.#close(error);
  }

  async #within<T>(answer: Promise<T>, withinMs: number, words: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(lost(words)), withinMs);
    });
    const gone = this.closed.then((error) => {
      throw error;
    });
    try {
      return await Promise.race([answer, late, gone]);
    } finally {
      clearTimeout(timer);
    }
  }
}
