import { ChunkedBody } from "./chunked-body.ts";
import { Gathered } from "./gathered.ts";
import { Lines } from "./lines.ts";
import { hasBody, type Looking, parseRequestHead, type RequestHead } from "./request-head.ts";
import { MAX_METHOD_CHARS, parseRequestLine, refuseNoHttp } from "./request-line.ts";
import { refuseAmbiguous } from "./words.ts";

const MAX_HEAD_BYTES = 64 * 1024;

export type RequestReading = {
  looking: Looking;
  /** Called for each head before a byte of it is passed on. @throws EgressRefusal when it may not. */
  admit: (head: RequestHead) => void;
  pass: (bytes: Buffer) => void;
};

type State =
  | { type: "head" }
  | { type: "length"; left: number }
  | { type: "chunked"; body: ChunkedBody }
  /** The server has not answered yet whether it changes to a WebSocket. */
  | { type: "waiting" }
  | { type: "tunnel" }
  /** No other request may follow. */
  | { type: "last" };

/** Follows the requests of a connection, each judged before it passes; the bytes stay as they are. */
export class RequestReader {
  readonly #reading: RequestReading;
  readonly #held = new Gathered();
  #state: State = { type: "head" };
  #lines = headLines();
  #head: string[] = [];
  #next: State = { type: "head" };
  /** Heads that were whole. */
  count = 0;

  constructor(reading: RequestReading) {
    this.#reading = reading;
  }

  get isInHead(): boolean {
    return this.#state.type === "head" && this.#lines.length > 0;
  }

  /** Something that speaks HTTP/1 is there to read an answer: its request has at least a first line. */
  get isInRequest(): boolean {
    return this.#head.length > 0;
  }

  /** The method of the request being read; empty before it is known. */
  get method(): string {
    return this.#head[0]?.split(" ", 1)[0] ?? "";
  }

  /** Nothing passes until `settleUpgrade`. */
  get isWaiting(): boolean {
    return this.#state.type === "waiting";
  }

  /** @throws EgressRefusal */
  push(piece: Buffer): void {
    let rest = piece;
    while (rest.length > 0 && !this.isWaiting) rest = this.#step(rest);
    if (rest.length > 0) this.#held.add(rest);
  }

  /** The server has answered the upgrade; what came since is a WebSocket's, or the next request. @throws EgressRefusal */
  settleUpgrade(isAccepted: boolean): void {
    this.#state = { type: isAccepted ? "tunnel" : "head" };
    this.push(this.#held.take());
  }

  #step(bytes: Buffer): Buffer {
    const state = this.#state;
    switch (state.type) {
      case "head":
        return this.#readHead(bytes);
      case "length":
        return this.#readLength(bytes, state.left);
      case "chunked": {
        const rest = state.body.read(bytes);
        if (state.body.isDone) this.#state = this.#next;
        return rest;
      }
      case "tunnel":
      case "waiting":
        this.#reading.pass(bytes);
        return bytes.subarray(bytes.length);
      case "last":
        throw refuseAmbiguous("a request follows one with a body, and rules here are for methods or paths");
    }
  }

  #readHead(bytes: Buffer): Buffer {
    const { looking } = this.#reading;
    const { line, rest } = this.#lines.read(bytes);
    if (line === undefined) {
      this.#requireMethod();
      return rest;
    }
    if (this.#head.length === 0) parseRequestLine(line, looking);
    if (line === "") this.#endHead();
    else this.#head.push(line);
    return rest;
  }

  /** What has no method is no HTTP, and is not waited for. */
  #requireMethod(): void {
    if (this.#head.length > 0 || this.#lines.length <= MAX_METHOD_CHARS) return;
    const begin = this.#lines.peek(MAX_METHOD_CHARS + 1);
    if (!begin.includes(" ")) throw refuseNoHttp(begin, this.#reading.looking);
  }

  #endHead(): void {
    const head = parseRequestHead(this.#head, this.#reading.looking);
    this.#reading.admit(head);
    this.count += 1;
    this.#reading.pass(this.#lines.take());
    this.#head = [];
    if (mustBeLast(head, this.#reading.looking)) this.#next = { type: "last" };
    this.#state = this.#after(head);
  }

  #after({ body, isUpgrade }: RequestHead): State {
    if (isUpgrade) return { type: "waiting" };
    if (body.type === "chunked") return { type: "chunked", body: new ChunkedBody(this.#reading.pass) };
    return body.bytes > 0 ? { type: "length", left: body.bytes } : this.#next;
  }

  #readLength(bytes: Buffer, left: number): Buffer {
    const data = bytes.subarray(0, left);
    this.#state = left === data.length ? this.#next : { type: "length", left: left - data.length };
    this.#reading.pass(data);
    return bytes.subarray(data.length);
  }
}

/** A server that does not read its body answers that as a request of its own; no answer of that may be waited for. */
export function mustBeLast({ body }: RequestHead, { seesMethods }: Looking): boolean {
  return seesMethods && hasBody(body);
}

function headLines(): Lines {
  return new Lines("the head of a request", MAX_HEAD_BYTES);
}
