import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { GloveboxError, messageOf, toGloveboxError } from "../core/errors.ts";
import type { Origin, RefusedInside } from "../core/outlet.ts";
import type { Appeared } from "../core/quarantine.ts";
import { visibleLine } from "../core/visible.ts";
import {
  type Control,
  type Hello,
  type Links,
  type MountsChanged,
  type Outcome,
  PROTOCOL_VERSION,
  type Ready,
  type SelfTestExpectation,
  ToController,
  type ToToolHost,
} from "../protocol/messages.ts";
import { Peer } from "../protocol/peer.ts";
import type { CallNumbers } from "./call-numbers.ts";
import { Questions } from "./questions.ts";
import type { CallOptions, HostSide, SandboxCall } from "./sandbox.ts";

/** A ping goes out this often, and the tool host ends itself after 30 s without one. */
const PING_EVERY_MS = 5_000;
/** Without an answer for this long the channel is taken for lost. */
const PONG_WITHIN_MS = 15_000;
/** How long a tool host may take to say `ready`, on a machine under load. */
const READY_WITHIN_MS = 20_000;
/** What a cancelled call is given before it counts as lost: the kill inside takes 0.3 s. */
const CANCEL_WITHIN_MS = 5_000;

/** A workspace of a million files, and 256 MiB to be packed for each of several paths. */
const SCAN_WITHIN_MS = 60_000;
const SWEEP_WITHIN_MS = 600_000;

/** The bytes of a channel. `destroy` ends it from our side. */
export type ChannelStreams = { input: Readable; output: Writable; destroy: () => void };

/** What became of a call, and what was refused inside meanwhile. */
type Answer = { outcome: Outcome; refused: RefusedInside };

const NOTHING_REFUSED: RefusedInside = { unreachable: 0, otherQuestions: 0, taken: [], heldPorts: [] };

type Waiting = {
  resolve: (answer: Answer) => void;
  reject: (error: GloveboxError) => void;
  onOutput: (text: string) => void;
};

/**
 * The controller's end of one tool host, wherever that runs. Made by {@link connect}; over when `closed` resolves,
 * with the first cause.
 */
export class ToolHostConnection {
  readonly #peer: Peer<ToController, ToToolHost>;
  readonly #streams: ChannelStreams;
  readonly #waiting = new Map<number, Waiting>();
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
    this.#questions = new Questions({
      send: (question) => this.#peer.send(question),
      within: (answer, withinMs, words) => this.#within(answer, withinMs, words),
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
  async call(call: SandboxCall, { signal, onOutput }: CallOptions): Promise<Answer> {
    const { tool, args, deadlineMs, callId, readsOnly } = call;
    const id = this.#numbers.next(callId);
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, onOutput });
    });
    const cancel = (): void => this.#cancel(id);
    const goOn = readsOnly ? this.#peer.standBack() : undefined;
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const problem = this.#trySend({ type: "call", id, tool, args });
      if (problem) return { outcome: problem, refused: NOTHING_REFUSED };
      if (signal.aborted) cancel();
      return await this.#within(answer, deadlineMs, "The tool host did not answer a call in time");
    } finally {
      goOn?.();
      signal.removeEventListener("abort", cancel);
      this.#waiting.delete(id);
    }
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
        return this.#show(message.id, message.stream);
      case "result":
        return this.#waiting.get(message.id)?.resolve(answerOf(message));
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

  /** Arguments that are too large never leave; nothing is lost by that, and the model can mend it. */
  #trySend(call: ToToolHost): Outcome | undefined {
    try {
      this.#peer.send(call);
      return undefined;
    } catch (error) {
      const text = `Not run: ${messageOf(error)}. Send less at once.`;
      return { status: "invalid", content: [{ type: "text", text }], details: {} };
    }
  }

  #show(id: number, stream: number): void {
    const decoder = new StringDecoder("utf8");
    const accepted = this.#peer.accept(stream);
    if (!this.#waiting.has(id)) return void accepted.destroy();
    accepted.on("data", (bytes: Buffer) => this.#waiting.get(id)?.onOutput(decoder.write(bytes)));
    accepted.on("end", () => accepted.end());
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
    for (const [id, waiting] of this.#waiting) if (!change.running.includes(id)) waiting.reject(this.unbegun);
    const paths = change.paths.map(visibleLine).join(", ");
    this.destroy(lost(`Mounts of the workspace were detached on the host: ${paths}`));
  }

  #cancel(id: number): void {
    this.#peer.send({ type: "cancel", id });
    const timer = setTimeout(() => {
      this.#waiting.get(id)?.reject(lost("A cancelled call did not end"));
    }, CANCEL_WITHIN_MS);
    timer.unref();
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
    for (const waiting of this.#waiting.values()) waiting.reject(error);
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

function answerOf({ outcome, refused }: Extract<ToController, { type: "result" }>): Answer {
  if (!refused) return { outcome, refused: NOTHING_REFUSED };
  const { unreachable, other_questions: otherQuestions, taken, held_ports: heldPorts } = refused;
  return { outcome, refused: { unreachable, otherQuestions, taken, heldPorts } };
}

/** The error of a sandbox that no longer answers. What a person can do about the cause, if that is known, is the hint. */
export function lost(words: string, cause?: unknown): GloveboxError {
  const detail = cause === undefined ? "" : `: ${messageOf(cause)}`;
  const known = cause === undefined ? undefined : toGloveboxError(cause).hint;
  return new GloveboxError("SANDBOX_LOST", `${words}${detail}`, {
    hint: known ?? "Its container is gone or does not react; `glovebox doctor` checks the engine",
    cause,
  });
}
