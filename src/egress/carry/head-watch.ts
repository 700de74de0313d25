import type { Duplex } from "node:stream";
import { EgressRefusal } from "../refusal.ts";
import type { Exchange } from "./exchange.ts";

/** Ends a connection whose next request takes too long to say what it is. A silent one, between requests, may stay. */
export class HeadWatch {
  readonly #exchange: Exchange;
  readonly #client: Duplex;
  readonly #ms: number;
  readonly #late = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #count = 0;

  constructor(exchange: Exchange, { client, ms }: { client: Duplex; ms: number }) {
    this.#exchange = exchange;
    this.#client = client;
    this.#ms = ms;
  }

  /** Aborted with the refusal. */
  get signal(): AbortSignal {
    return this.#late.signal;
  }

  /** After each piece of the program. */
  look(): void {
    const { count, isOpen } = this.#exchange.heads;
    if (!isOpen || count !== this.#count) this.stop();
    this.#count = count;
    if (isOpen && this.#timer === undefined) this.#start();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    this.#timer = setTimeout(() => this.#end(), this.#ms);
  }

  #end(): void {
    // Then it is we who do not read, because the server does not.
    if (this.#client.isPaused()) return this.#start();
    this.#late.abort(new EgressRefusal(`the head of a request was not whole after ${this.#ms / 1000} s`));
  }
}
