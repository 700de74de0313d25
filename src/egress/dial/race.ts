import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { Dialler, Endpoint } from "../dialler.ts";
import { untilAborted } from "./until-aborted.ts";
import { withAbort } from "./with-abort.ts";

/** RFC 8305, section 5: the recommended delay between attempts. */
const STAGGER_MS = 250;
/** A name with more addresses than this has its first ones tried. */
const MOST_CANDIDATES = 8;

/** The addresses in the order they are tried: families take turns, beginning with that of the first. */
export function inTurns(addresses: readonly string[]): string[] {
  const isFirstFamily = (address: string): boolean => address.includes(":") === addresses[0]?.includes(":");
  const first = addresses.filter(isFirstFamily);
  const second = addresses.filter((address) => !isFirstFamily(address));
  const turns = addresses.flatMap((_, index) => [...first.slice(index, index + 1), ...second.slice(index, index + 1)]);
  return turns.slice(0, MOST_CANDIDATES);
}

/**
 * The first connection that is established; the next address is tried when one fails, or has said nothing for 250 ms.
 * What connects too late is destroyed. Rejects with the first failure when all fail, or with the signal's reason.
 */
export function dialFirst(
  connect: Dialler["connect"],
  candidates: readonly Endpoint[],
  signal: AbortSignal,
): Promise<Duplex> {
  return withAbort(signal, async (own) => {
    const race = new Race(connect, own.signal);
    try {
      for (const candidate of candidates) if (await race.start(candidate)) break;
      return await race.winner();
    } catch (error) {
      race.winning?.destroy();
      signal.throwIfAborted();
      throw error instanceof AggregateError ? (error.errors[0] ?? error) : error;
    } finally {
      own.abort();
    }
  });
}

class Race {
  winning: Duplex | undefined;
  readonly #connect: Dialler["connect"];
  readonly #signal: AbortSignal;
  readonly #attempts: Promise<Duplex>[] = [];

  constructor(connect: Dialler["connect"], signal: AbortSignal) {
    this.#connect = connect;
    this.#signal = signal;
  }

  /** Whether the race is over; not when this one failed, or its time is up. */
  start(candidate: Endpoint): Promise<boolean> {
    const latest = this.#attempt(candidate);
    this.#attempts.push(latest);
    const isOver = Promise.any(this.#attempts).then(() => true, NEVER);
    const hasFailed = latest.then(NEVER, () => false);
    return Promise.race([isOver, hasFailed, pause(STAGGER_MS, false, { signal: this.#signal })]);
  }

  winner(): Promise<Duplex> {
    return untilAborted(Promise.any(this.#attempts), this.#signal);
  }

  async #attempt(candidate: Endpoint): Promise<Duplex> {
    const connection = await this.#connect(candidate, this.#signal);
    // Whoever takes it over hears of errors by its own listener.
    connection.on("error", () => undefined);
    if (!this.winning && !this.#signal.aborted) this.winning = connection;
    if (this.winning !== connection) connection.destroy();
    return connection;
  }
}

/** Leaves a race to the others in it. */
const NEVER = () => new Promise<never>(() => undefined);
