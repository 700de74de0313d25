import { EgressRefusal } from "../refusal.ts";
import { Chunks } from "./chunks.ts";
import { Gathered } from "./gathered.ts";

const LF = 10;
/** Longer heads exist nowhere. */
const MAX_HEAD_BYTES = 64 * 1024;
/** Before one answer. */
const MAX_INTERIM = 100;

/** First of the fields: some clients look at no other of the name. */
const CLOSE = Buffer.from("Connection: close\r\n");

type Part = "head" | "trailer";

type State =
  | { type: Part }
  | { type: "length"; left: number }
  | { type: "chunks"; chunks: Chunks }
  /** To the end of the connection, or not understood: it is passed on, and never again counts as answered. */
  | { type: "rest" }
  /** The last answer has ended. */
  | { type: "over" };

/** `isLast`: nothing that comes after its answer is one to a request of the program. */
export type Asked = { method: string; isLast: boolean };

type Head = { status: number; coding?: string; length?: string };

export type ResponseReading = {
  onStatus: (status: number) => void;
  /** Whether only answers that were asked for, and whose end can be seen, may pass. */
  isStrict: boolean;
};

/**
 * Follows the answers of a server as far as is needed to know which request they answer, and whether one is underway.
 * Unless it is strict it forgives what clients forgive: what it says is used for politeness, and for whether a WebSocket
 * was agreed on.
 */
export class ResponseReader {
  readonly #reading: ResponseReading;
  readonly #awaited: Asked[] = [];
  readonly #line = new Gathered();
  #state: State = { type: "head" };
  #head: Head | undefined;
  /** Of the head or trailer that has begun. */
  #bytes = 0;
  #interim = 0;
  /** Where in the piece the first line of the last answer ends. */
  #closeAt: number | undefined;

  constructor(reading: ResponseReading) {
    this.#reading = reading;
  }

  /** Everything asked has been answered, and nothing else is underway. */
  get isIdle(): boolean {
    return this.#state.type === "head" && this.#bytes === 0 && this.#awaited.length === 0;
  }

  /** Nothing more may pass. */
  get isOver(): boolean {
    return this.#state.type === "over";
  }

  get awaited(): number {
    return this.#awaited.length;
  }

  /** A request with this method was passed on. @throws EgressRefusal */
  expect(asked: Asked): void {
    if (asked.isLast && this.#state.type === "rest") throw unseen();
    this.#awaited.push(asked);
  }

  /**
   * What may pass: all of it, unless it is over. The last answer says that it is, or a client would use the connection
   * again before it sees its end. @throws EgressRefusal
   */
  push(piece: Buffer): Buffer {
    let at = 0;
    this.#closeAt = undefined;
    while (at < piece.length && !this.isOver) at = this.#step(piece, at);
    if (this.#closeAt === undefined) return piece.subarray(0, at);
    return Buffer.concat([piece.subarray(0, this.#closeAt), CLOSE, piece.subarray(this.#closeAt, at)]);
  }

  #step(bytes: Buffer, at: number): number {
    const state = this.#state;
    switch (state.type) {
      case "over":
        return at;
      case "rest":
        return bytes.length;
      case "length": {
        const size = Math.min(state.left, bytes.length - at);
        state.left -= size;
        if (state.left === 0) this.#endAnswer();
        return at + size;
      }
      case "chunks":
        return this.#readChunks(bytes, { at, chunks: state.chunks });
      case "head":
        if (this.#reading.isStrict && this.#awaited.length === 0) {
          this.#begin({ type: "over" });
          return at;
        }
        return this.#readLine(bytes, { at, part: "head" });
      case "trailer":
        return this.#readLine(bytes, { at, part: "trailer" });
    }
  }

  #readChunks(bytes: Buffer, { at, chunks }: { at: number; chunks: Chunks }): number {
    try {
      const end = chunks.scan(bytes, at);
      if (chunks.isDone) this.#begin({ type: "trailer" });
      return end;
    } catch {
      this.#giveUp();
      return bytes.length;
    }
  }

  #readLine(bytes: Buffer, { at, part }: { at: number; part: Part }): number {
    const lineEnd = bytes.indexOf(LF, at);
    const end = lineEnd < 0 ? bytes.length : lineEnd + 1;
    this.#bytes += end - at;
    if (this.#bytes > MAX_HEAD_BYTES) {
      this.#line.take();
      this.#giveUp();
      return bytes.length;
    }
    if (lineEnd < 0 || this.#line.length > 0) this.#line.add(bytes.subarray(at, end));
    if (lineEnd >= 0) {
      const raw = this.#line.length > 0 ? this.#line.take().toString("latin1") : bytes.toString("latin1", at, end);
      const line = raw.replace(/\r?\n$/, "");
      if (part === "trailer") this.#endTrailerLine(line);
      else if (this.#head === undefined) this.#beginHead(line, end);
      else this.#endHeadLine(line, this.#head);
    }
    return end;
  }

  #endTrailerLine(line: string): void {
    if (line === "") this.#endAnswer();
  }

  #beginHead(line: string, end: number): void {
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(line)?.[1]);
    if (Number.isNaN(status)) return this.#giveUp();
    this.#head = { status };
    if (status >= 200 && this.#awaited[0]?.isLast) this.#closeAt = end;
  }

  #endHeadLine(line: string, head: Head): void {
    if (line === "") this.#endHead(head);
    else if (isNamed(line, "transfer-encoding")) head.coding = valueIn(line);
    else if (isNamed(line, "content-length")) head.length = valueIn(line);
  }

  #endHead(head: Head): void {
    const { status } = head;
    if (status < 200) this.#endInterim(status);
    else this.#beginBody(head);
    this.#reading.onStatus(status);
  }

  #endInterim(status: number): void {
    this.#interim += 1;
    if (this.#interim > MAX_INTERIM) {
      throw new EgressRefusal(`the server said more than ${MAX_INTERIM} times that it would answer later`);
    }
    this.#begin({ type: status === 101 ? "rest" : "head" });
  }

  #beginBody({ status, coding, length }: Head): void {
    const method = this.#awaited[0]?.method;
    this.#interim = 0;
    if (method === undefined) return this.#giveUp();
    if (method === "HEAD" || status === 204 || status === 304) return this.#endAnswer();
    if (coding !== undefined) {
      const isChunked = /(?:^|,)\s*chunked$/i.test(coding);
      return this.#begin(isChunked ? { type: "chunks", chunks: new Chunks({ mayPad: true }) } : { type: "rest" });
    }
    if (length === undefined) return this.#begin({ type: "rest" });
    if (!/^\d{1,15}$/.test(length)) return this.#giveUp();
    if (Number(length) === 0) return this.#endAnswer();
    this.#begin({ type: "length", left: Number(length) });
  }

  #endAnswer(): void {
    this.#begin({ type: this.#awaited.shift()?.isLast ? "over" : "head" });
  }

  #giveUp(): void {
    if (this.#reading.isStrict) throw unseen();
    this.#begin({ type: "rest" });
  }

  #begin(state: State): void {
    this.#state = state;
    this.#head = undefined;
    this.#bytes = 0;
  }
}

function unseen(): EgressRefusal {
  return new EgressRefusal("the end of the server's answer cannot be seen, which rules for methods or paths need");
}

function isNamed(line: string, name: string): boolean {
  return line.charAt(name.length) === ":" && line.slice(0, name.length).toLowerCase() === name;
}

function valueIn(line: string): string {
  return line.slice(line.indexOf(":") + 1).trim();
}
