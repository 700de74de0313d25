import type { EgressRecord } from "../core/events.ts";
import type { EgressFact, RecordFact } from "./records.ts";
import type { EgressRefusal } from "./refusal.ts";

/** One question for a name (`port` null), or one connection, as the records and lines name it. */
export type Attempt = Pick<EgressRecord, "connection" | "call_id" | "assumed" | "host" | "port"> & {
  /** What the program connected to, where that is not what the records name. */
  used?: { host: string; port: number };
};

/** What happened to some place in one call, as often as `count`. */
export type Note = {
  host: string;
  port: number | null;
  verdict: "denied" | "failed";
  why: string;
  rule: string;
  /** Undefined for what failed. */
  enableWith: string | undefined;
  count: number;
  /** Of a job that outlived its call, or of no call. */
  isLate: boolean;
  /** It may as well be a job's. */
  isAssumed: boolean;
};

/** The notes of one call; `more` had no room. */
export type Notes = { notes: readonly Note[]; more: number };

/** Different refusals of a call that are told apart. */
const MOST_NOTES = 200;
/** Calls that are waiting to be told of; the oldest is given up. */
const MOST_CALLS = 64;
/** Calls that ended, of which jobs may be left. */
const MOST_TOLD = 1000;

type Kept = { note: Note; fact: EgressRecord; unwritten: number };
/** `more` had no room, of which `unwritten` have no record; the first of them stands for all. */
type Call = { kept: Map<string, Kept>; more: number; unwritten: number; first: EgressRecord | undefined };

/** How a connection was to go out, as its record says. */
export type Route = { via: NonNullable<EgressRecord["via"]>; address: string };

/**
 * What was refused, by call, and the records of all that happens. A refusal is recorded when it is first met, with
 * `count` 1; how often it came again in its call is one more record, with the number of the first, when the call ends.
 */
export class Ledger {
  readonly #record: RecordFact;
  readonly #calls = new Map<string | null, Call>();
  readonly #told = new Set<string>();
  readonly #writing = new Set<Promise<void>>();

  constructor(record: RecordFact) {
    this.#record = record;
  }

  /** Rejects when it could not be recorded: it must not be dialled then. */
  allowed({ used: _used, ...attempt }: Attempt, rule: string, route: Route): Promise<void> {
    const said = { verdict: "allowed", rule_id: rule, why: null, count: 1 } as const;
    return this.#record({ type: "egress", ...attempt, ...said, ...route });
  }

  ended(fact: Omit<Extract<EgressFact, { type: "egress_end" }>, "type">): void {
    this.#write({ type: "egress_end", ...fact });
  }

  /** `rule`: what had let it through, for what failed. `isDialled`: it has records of its own already. */
  refused(
    { used, ...attempt }: Attempt,
    refusal: EgressRefusal,
    more: { rule: string; route?: Route | undefined; isDialled: boolean },
  ) {
    const { denial, message, verdict } = refusal;
    const why = used ? `${message}; it leads to ${attempt.host}:${attempt.port}` : message;
    const note: Note = {
      ...{ host: attempt.host, port: attempt.port, ...used, verdict, why, rule: denial?.rule ?? more.rule },
      ...{
        enableWith: denial?.enable_with,
        count: 1,
        isLate: this.#isLate(attempt.call_id),
        isAssumed: attempt.assumed,
      },
    };
    // A record of what was dialled names what it was dialled as before.
    const fact = factOf(note, { ...attempt, ...(!more.isDialled && used) }, more.route);
    const isNew = this.#note(note, fact, more.isDialled);
    if (isNew || more.isDialled) this.#write(fact);
  }

  /** What is to be told of a call that ends, and is forgotten: its own, and what came late. Counts are recorded by then. */
  async take(callId: string): Promise<Notes> {
    this.#told.delete(callId);
    this.#told.add(callId);
    const [oldest] = this.#told;
    if (this.#told.size > MOST_TOLD && oldest !== undefined) this.#told.delete(oldest);
    const ids = [...this.#calls.keys()].filter((id) => id === callId || this.#isLate(id));
    const calls = ids.flatMap((id) => this.#calls.get(id) ?? []);
    for (const id of ids) this.#calls.delete(id);
    for (const call of calls) this.#flush(call);
    await this.settled();
    const notes = calls.flatMap(({ kept }) => [...kept.values()].map(({ note }) => note));
    return { notes, more: calls.reduce((sum, call) => sum + call.more, 0) };
  }

  /** Records all counts, and waits for all records. */
  async close(): Promise<void> {
    for (const call of this.#calls.values()) this.#flush(call);
    this.#calls.clear();
    await this.settled();
  }

  async settled(): Promise<void> {
    await Promise.all(this.#writing);
  }

  #isLate(callId: string | null): boolean {
    return callId === null || this.#told.has(callId);
  }

  /** Whether it is the first of its kind in its call. */
  #note(note: Note, fact: EgressRecord, isDialled: boolean): boolean {
    const call = this.#callOf(fact.call_id);
    const key = JSON.stringify([note.host, note.port, note.verdict, note.rule, note.why]);
    const known = call.kept.get(key);
    const unwritten = isDialled ? 0 : 1;
    if (known) {
      known.note.count += 1;
      known.unwritten += unwritten;
      return false;
    }
    if (call.kept.size < MOST_NOTES) {
      call.kept.set(key, { note, fact, unwritten: 0 });
      return true;
    }
    call.more += 1;
    call.unwritten += unwritten;
    call.first ??= fact;
    return false;
  }

  #callOf(callId: string | null): Call {
    const known = this.#calls.get(callId);
    if (known) return known;
    const call: Call = { kept: new Map(), more: 0, unwritten: 0, first: undefined };
    this.#calls.set(callId, call);
    const [oldest] = this.#calls;
    if (this.#calls.size > MOST_CALLS && oldest) {
      this.#calls.delete(oldest[0]);
      this.#flush(oldest[1]);
    }
    return call;
  }

  #flush({ kept, unwritten, first }: Call): void {
    const counted = [...kept.values()].filter((item) => item.unwritten > 0);
    for (const item of counted) this.#write({ ...item.fact, count: item.unwritten });
    if (first && unwritten > 0) this.#write({ ...first, ...OTHERS, count: unwritten });
  }

  #write(fact: EgressFact): void {
    // A log that cannot be written ends the session by itself; what was refused stays refused.
    const writing = this.#record(fact).catch(() => undefined);
    this.#writing.add(writing);
    void writing.then(() => this.#writing.delete(writing));
  }
}

/** Stands for those that were not told apart. */
const OTHERS = {
  connection: null,
  host: "(others)",
  port: null,
  verdict: "denied",
  rule_id: "built-in/network.records",
  address: null,
  via: null,
  why: `more than ${MOST_NOTES} different refusals in one call`,
} as const;

function factOf(note: Note, attempt: Attempt, route: Route | undefined): EgressRecord {
  const said = { verdict: note.verdict, rule_id: note.rule, why: note.why, count: 1 };
  return { type: "egress", ...attempt, ...said, address: route?.address ?? null, via: route?.via ?? null };
}
