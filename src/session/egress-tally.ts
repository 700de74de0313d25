import type { EgressRecord, Fact } from "../core/events.ts";
import type { RunResult } from "./result.ts";

type Counted = RunResult["egress"];

/** What asks for names can ask for any number of them: more hosts than this are counted, not listed. */
const MAX_HOSTS = 100;

/** What the connections of one run add up to. */
export class EgressTally {
  readonly #counts: Record<EgressRecord["verdict"], number> = { allowed: 0, denied: 0, failed: 0 };
  readonly #bytes = { up: 0, down: 0 };
  /** How many connections each host was reached by. */
  readonly #reached = new Map<string, number>();
  readonly #refused = new Map<string, Counted["refused"][number]>();
  /** Admitted connections that have not ended, by their number. */
  readonly #open = new Map<number, string>();
  #unlisted = 0;
  /** Hosts that a person could have admitted, and nobody was there. */
  unattended = 0;

  add(fact: Extract<Fact, { type: "egress" | "egress_end" | "host_approval" }>): void {
    switch (fact.type) {
      case "egress":
        return this.#addVerdict(fact);
      case "egress_end":
        this.#open.delete(fact.connection);
        this.#bytes.up += fact.bytes_up;
        this.#bytes.down += fact.bytes_down;
        return;
      case "host_approval":
        if (fact.decision === "no" && fact.by === "nobody") this.unattended++;
        return;
      default:
        return fact satisfies never;
    }
  }

  get counted(): Counted {
    return {
      ...this.#counts,
      bytes_up: this.#bytes.up,
      bytes_down: this.#bytes.down,
      hosts: [...this.#reached].filter(([, connections]) => connections > 0).map(([host]) => host),
      refused: [...this.#refused.values()],
      refused_unlisted: this.#unlisted,
    };
  }

  /** The last verdict on a connection is the one that counts: one that was allowed can come to nothing. */
  #addVerdict(record: EgressRecord): void {
    const { connection, verdict, host, count } = record;
    const before = connection === null ? undefined : this.#open.get(connection);
    if (before !== undefined && connection !== null) {
      this.#counts.allowed--;
      this.#reached.set(before, (this.#reached.get(before) ?? 1) - 1);
      this.#open.delete(connection);
    }
    this.#counts[verdict] += count;
    if (verdict === "denied") return this.#addRefused(record);
    if (verdict === "failed") return;
    this.#reached.set(host, (this.#reached.get(host) ?? 0) + count);
    if (connection !== null) this.#open.set(connection, host);
  }

  #addRefused({ host, port, rule_id: rule, why, count }: EgressRecord): void {
    const key = JSON.stringify([host, port, rule]);
    const known = this.#refused.get(key);
    if (known) known.count += count;
    else if (this.#refused.size < MAX_HOSTS) this.#refused.set(key, { host, port, rule, why, count });
    else this.#unlisted += count;
  }
}

/** Of a run that had no connections. */
export const NO_EGRESS: Counted = new EgressTally().counted;
