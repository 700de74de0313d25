import type { EventLine } from "./history-schema.ts";

type Verdict = Extract<EventLine, { type: "egress" }>["verdict"];

/** What became of the connections to one host and port, as far as they came to the same. Names as `--json` has them. */
export type EgressRow = {
  host: string;
  /** Null where a name was asked for. */
  port: number | null;
  verdict: Verdict;
  rule_id: string;
  via: "direct" | "proxy" | "forward" | null;
  /** Why they were denied or failed. */
  why: string | null;
  connections: number;
  /** Null while the log does not tell of the end of one of them: it goes on, or glovebox was killed. */
  bytes_up: number | null;
  bytes_down: number | null;
  ended: boolean;
  /** What was dialled. */
  addresses: string[];
  /** Of these calls, each once; null stands for none. */
  calls: (string | null)[];
};

export type HostAnswer = Pick<
  Extract<EventLine, { type: "host_approval" }>,
  "ts" | "host" | "port" | "decision" | "by" | "scope" | "rule_id"
>;

/** While connections are counted, the bytes of those that have ended. */
type Row = Omit<EgressRow, "bytes_up" | "bytes_down" | "ended"> & { bytes_up: number; bytes_down: number };

const ORDER: readonly Verdict[] = ["allowed", "failed", "denied"];

/** A fold over the lines of a log: hosts by verdict, and what a person said of them. */
export class EgressHistory {
  readonly #rows = new Map<string, Row>();
  readonly #open = new Map<number, Row>();
  readonly answers: HostAnswer[] = [];

  add(event: EventLine): void {
    switch (event.type) {
      case "egress":
        return this.#addVerdict(event);
      case "egress_end":
        return this.#addEnd(event);
      case "host_approval": {
        const { ts, host, port, decision, by, scope, rule_id } = event;
        this.answers.push({ ts, host, port, decision, by, scope, rule_id });
        return;
      }
      default:
        return;
    }
  }

  /** By verdict, then by host and port. */
  get rows(): EgressRow[] {
    const open = new Set([...this.#open.values()].filter(({ verdict }) => verdict === "allowed"));
    const shown = [...this.#rows.values()].filter(({ connections }) => connections > 0);
    const rows = shown.map(
      (row): EgressRow => ({
        ...row,
        ended: !open.has(row),
        ...(open.has(row) && { bytes_up: null, bytes_down: null }),
      }),
    );
    return rows.toSorted(
      (a, b) =>
        ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict) ||
        a.host.localeCompare(b.host, "en") ||
        (a.port ?? 0) - (b.port ?? 0),
    );
  }

  #addVerdict(event: Extract<EventLine, { type: "egress" }>): void {
    const { connection, call_id: call, address, count } = event;
    const row = this.#rowOf(event);
    row.connections += count;
    if (!row.calls.includes(call)) row.calls.push(call);
    if (address !== null && !row.addresses.includes(address)) row.addresses.push(address);
    if (connection === null) return;
    // The last verdict counts: what was allowed can come to nothing.
    const before = this.#open.get(connection);
    if (before) before.connections--;
    if (before || event.verdict === "allowed") this.#open.set(connection, row);
  }

  #addEnd({ connection, bytes_up, bytes_down, why }: Extract<EventLine, { type: "egress_end" }>): void {
    const row = this.#open.get(connection);
    if (!row) return;
    row.bytes_up += bytes_up;
    row.bytes_down += bytes_down;
    row.why ??= why;
    this.#open.delete(connection);
  }

  #rowOf({ host, port, verdict, rule_id, via, why }: Extract<EventLine, { type: "egress" }>): Row {
    const key = JSON.stringify([host, port, verdict, rule_id, via, why]);
    const known = this.#rows.get(key);
    if (known) return known;
    const counts = { connections: 0, bytes_up: 0, bytes_down: 0 };
    const row: Row = { host, port, verdict, rule_id, via, why, ...counts, addresses: [], calls: [] };
    this.#rows.set(key, row);
    return row;
  }
}
