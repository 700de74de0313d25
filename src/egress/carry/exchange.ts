import type { Duplex } from "node:stream";
import type { Carriage } from "../carriage.ts";
import { EgressRefusal } from "../refusal.ts";
import type { Looking, RequestHead } from "./request-head.ts";
import { mustBeLast, RequestReader } from "./request-reader.ts";
import { ResponseReader } from "./response-reader.ts";
import { refuseAmbiguous, refuseRequest } from "./words.ts";

/** More than any client asks before it reads; each is remembered until it is answered. */
const MAX_AWAITED = 1000;

export type ExchangeSides = {
  client: Duplex;
  looking: Looking;
  judge: Carriage["judge"];
  count: Carriage["count"];
};

/** The requests of a kept connection and their answers, passed on as they are once each request has been judged. */
export class Exchange {
  readonly #sides: ExchangeSides;
  #server: Duplex | undefined;
  #requests: RequestReader;
  #responses: ResponseReader;
  #isTunnel = false;
  /** A piece has been read that is not passed on; it never will be when something in it is refused. */
  #isAnswering = false;
  #method = "";

  constructor(sides: ExchangeSides) {
    this.#sides = sides;
    this.#requests = this.#reader();
    this.#responses = new ResponseReader({ onStatus: () => undefined, isStrict: false });
  }

  /** Judges the first request without passing it on. Undefined while it is not whole. @throws EgressRefusal */
  probe(piece: Buffer): true | undefined {
    this.#requests.push(piece);
    return this.#requests.count > 0 || undefined;
  }

  /** From here on everything is given again, and passed on. */
  begin(server: Duplex): void {
    this.#server = server;
    this.#requests = this.#reader();
    const isStrict = this.#sides.looking.seesMethods;
    this.#responses = new ResponseReader({ onStatus: (status) => this.#settle(status), isStrict });
  }

  /** How many heads have begun, and whether the last one is not whole. */
  get heads(): { count: number; isOpen: boolean } {
    return { count: this.#requests.count, isOpen: this.#requests.isInHead };
  }

  get mayRead(): boolean {
    return !this.#requests.isWaiting;
  }

  /** The last answer that may pass has; what the server still says is to nothing that was judged. */
  get isOver(): boolean {
    return this.#responses.isOver;
  }

  /** The method of the request that an answer of ours would be taken as the answer to; undefined when it would not. */
  get answerable(): string | undefined {
    const isRead = this.#requests.isInRequest;
    if (this.#server === undefined) return isRead ? this.#requests.method : this.#method || undefined;
    const isBetween = !this.#isTunnel && !this.#isAnswering && this.#responses.isIdle;
    return isRead && isBetween ? this.#requests.method : undefined;
  }

  /** @throws EgressRefusal */
  up(piece: Buffer): void {
    // What is judged in parts goes out as one: many small writes would wait for each other's acknowledgement.
    this.#server?.cork();
    try {
      this.#requests.push(piece);
    } finally {
      this.#server?.uncork();
    }
  }

  /** @throws EgressRefusal */
  down(piece: Buffer): void {
    const { count, client } = this.#sides;
    this.#isAnswering = true;
    const passed = this.#isTunnel ? piece : this.#responses.push(piece);
    count("down", passed.length);
    if (passed.length > 0) client.write(passed);
    this.#isAnswering = false;
  }

  #reader(): RequestReader {
    return new RequestReader({
      looking: this.#sides.looking,
      admit: (head) => this.#admit(head),
      pass: (bytes) => this.#pass(bytes),
    });
  }

  #pass(bytes: Buffer): void {
    if (!this.#server) return;
    this.#sides.count("up", bytes.length);
    this.#server.write(bytes);
  }

  #admit(head: RequestHead): void {
    const { method, path } = head;
    const { judge, looking } = this.#sides;
    if (head.isUpgrade && this.#requests.count > 0) {
      throw refuseAmbiguous("a WebSocket is asked for on a connection that had requests before");
    }
    if (this.#responses.awaited >= MAX_AWAITED) throw refuseAmbiguous(`${MAX_AWAITED} requests wait for an answer`);
    const decision = judge({ method, path });
    if (decision.type !== "allow") throw refuseRequest(head, { looking, decision });
    this.#method = method;
    this.#responses.expect({ method, isLast: mustBeLast(head, looking) });
  }

  #settle(status: number): void {
    if (status === 101 && !this.#requests.isWaiting) {
      throw new EgressRefusal("the server changed to another protocol, which no request had asked for");
    }
    if (!this.#requests.isWaiting || (status < 200 && status !== 101)) return;
    this.#isTunnel = status === 101;
    this.#requests.settleUpgrade(this.#isTunnel);
    if (!this.#server?.writableNeedDrain) this.#sides.client.resume();
  }
}
