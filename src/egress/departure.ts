import type { Duplex } from "node:stream";
import { messageOf } from "../core/errors.ts";
import { visibleLine } from "../core/visible.ts";
import { failureWords } from "./dial/failure-words.ts";
import { withAbort } from "./dial/with-abort.ts";
import type { Gate } from "./gate.ts";
import type { Attempt, Route } from "./ledger.ts";
import type { Passage } from "./passage.ts";
import { EgressRefusal } from "./refusal.ts";
import type { Meter } from "./traffic.ts";

/** How far one connection has come, and its records. */
export class Departure {
  readonly #gate: Gate;
  readonly #attempt: Attempt & { connection: number };
  /** Aborted when nobody waits for the connection any more. */
  readonly signal: AbortSignal;
  readonly meter: Meter;
  #rule = "";
  #route: Route | undefined;
  #isDialled = false;
  #establishedAt: number | undefined;
  #refused: EgressRefusal | undefined;

  constructor(gate: Gate, attempt: Attempt & { connection: number }, signal: AbortSignal) {
    this.#gate = gate;
    this.#attempt = attempt;
    this.signal = signal;
    this.meter = gate.traffic.meter(attempt.host);
  }

  /** It was let through, so whatever it comes to is by this rule. */
  admit({ rule }: Pick<Passage, "rule">): void {
    this.#rule = rule;
  }

  /** Finds the other end, records that it is allowed, and only then dials. @throws EgressRefusal */
  dial(passage: Pick<Passage, "rule" | "find">): Promise<Duplex> {
    return withAbort(this.signal, async (own) => {
      const timer = setTimeout(() => own.abort(this.#late()), this.#gate.connectTimeoutMs);
      try {
        const connection = await this.#reach(passage, own.signal);
        this.#establishedAt = performance.now();
        return connection;
      } catch (error) {
        throw error instanceof EgressRefusal ? error : new EgressRefusal(failureWords(error));
      } finally {
        clearTimeout(timer);
      }
    });
  }

  async #reach({ rule, find }: Pick<Passage, "rule" | "find">, signal: AbortSignal): Promise<Duplex> {
    const way = await find(signal);
    this.#route = { via: way.via, address: way.address };
    if ("denied" in way) throw way.denied;
    await this.#allow(rule, this.#route);
    signal.throwIfAborted();
    return await way.connect(signal);
  }

  async #allow(rule: string, route: Route): Promise<void> {
    await this.#gate.ledger.allowed(this.#attempt, rule, route).catch(() => {
      throw new EgressRefusal("it could not be recorded, and what is not recorded is not dialled");
    });
    this.#isDialled = true;
  }

  #late(): EgressRefusal {
    return new EgressRefusal(`there was no answer within ${this.#gate.connectTimeoutMs / 1000} seconds`);
  }

  /** Records what is left to be said of a connection that did not end by itself, once. */
  refuse(error: unknown): EgressRefusal {
    if (this.#refused) return this.#refused;
    const refusal = error instanceof EgressRefusal ? error : new EgressRefusal(visibleLine(messageOf(error)));
    const { ledger, signal } = this.#gate;
    const isEnd = refusal === signal.reason && this.#establishedAt !== undefined;
    if (!isEnd) {
      ledger.refused(this.#attempt, refusal, { rule: this.#rule, route: this.#route, isDialled: this.#isDialled });
    }
    this.end(refusal.message);
    this.#refused = refusal;
    return refusal;
  }

  /** Records the end of a connection that was established. */
  end(why: string | null): void {
    if (this.#establishedAt === undefined) return;
    this.#gate.ledger.ended({
      connection: this.#attempt.connection,
      bytes_up: this.meter.up,
      bytes_down: this.meter.down,
      duration_ms: Math.round(performance.now() - this.#establishedAt),
      why,
    });
  }
}
