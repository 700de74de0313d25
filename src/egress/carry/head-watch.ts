import type { Duplex } from "node:stream";
import { EgressRefusal } from "../refusal.ts";
import type { Exchange } from "./exchange.ts";

export type Watched = { client: Duplex; ms: number; signal: AbortSignal };

/** Ends a connection whose next request takes too long to say what it is. A silent one, between requests, may stay. */
export class HeadWatch {
  readonly #exchange: Exchange;
  readonly #watched: Watched;
  readonly #end = new AbortController();
  readonly #forward = () => this.#end.abort(this.#watched.signal.reason);
  #timer: NodeJS.Timeout | undefined;
  #count = 0;

  constructor(exchange: Exchange, watched: Watched) {
    this.#exchange = exchange;
    this.#watched = watched;
    if (watched.signal.aborted) this.#forward();
    // Not `AbortSignal.any`, which keeps something of every connection for as long as the session's signal lives.
    else watched.signal.addEventListener("abort", this.#forward);
  }

  /** Aborted with the refusal, or when the given one is. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** After each piece of the program. */
  look(): void {
    const { count, isOpen } = this.#exchange.heads;
    if (!isOpen || count !== this.#count) this.#clear();
    this.#count = count;
    if (isOpen && this.#timer === undefined) this.#start();
  }

  stop(): void {
    this.#clear();
    this.#watched.signal.removeEventListener("abort", this.#forward);
  }

  #clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    this.#timer = setTimeout(() => this.#judge(), this.#watched.ms);
  }

  #judge(): void {
    // Then it is we who do not read, because the server does not.
    if (this.#watched.client.isPaused()) return this.#start();
    this.#end.abort(new EgressRefusal(`the head of a request was not whole after ${this.#watched.ms / 1000} s`));
  }
}
