import { setMaxListeners } from "node:events";
import type { Duplex } from "node:stream";
import type { AdmittedName, Destination, Origin, Outlet, RefusedInside } from "../core/outlet.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import { decideEffect } from "../policy/decide.ts";
import { canonicalHost } from "../policy/host-name.ts";
import { createAuthority } from "./carry/authority.ts";
import { carry, createCarry } from "./carry/carry.ts";
import type { Target } from "./dial/route.ts";
import type { Dialler } from "./dialler.ts";
import { type Forward, forwardsOf } from "./forwards.ts";
import type { Gate, GatePolicy } from "./gate.ts";
import type { HostApprover } from "./host-approver.ts";
import { HostQuestions } from "./host-questions.ts";
import { type Attempt, Ledger } from "./ledger.ts";
import { linesOf } from "./lines.ts";
import { Names } from "./names.ts";
import { Pace } from "./pace.ts";
import { type Admit, admitForward, admitName } from "./passage.ts";
import type { RecordFact } from "./records.ts";
import { EgressRefusal } from "./refusal.ts";
import { refusalBy, refusalOfAll } from "./remedy.ts";
import { serve } from "./serve.ts";
import { Traffic } from "./traffic.ts";
import type { UpstreamProxy } from "./upstream-proxy.ts";
import { Waits } from "./waits.ts";

export type EgressOptions = {
  policy: GatePolicy;
  dialler: Dialler;
  /** From {@link upstreamProxyFrom}; undefined is none. */
  proxy: UpstreamProxy | undefined;
  approver: HostApprover;
  /** Awaited before anything is dialled; what cannot be recorded is not dialled. */
  record: RecordFact;
  /** The number of the first connection; a resumed session goes on where its log ends. Omitted, 1. */
  firstConnection?: number;
  /** Certificates (PEM) that servers behind opened TLS may be signed by, beside those that Node trusts. */
  authorities?: readonly string[];
  /** For finding and reaching the other end of a connection, in all. Omitted, 10 seconds. */
  connectTimeoutMs?: number;
};

/** Where the connections of one session go out. `close` ends all of them and waits for their records. */
export type Egress = Outlet & { close: () => Promise<void> };

/** Connections of a session at once, those that wait for a person included. */
export const MOST_CONNECTIONS = 256;

/** Opens the gate of a session, with an authority of its own where a rule opens TLS. */
export async function openEgress(options: EgressOptions): Promise<Egress> {
  const { policy, record, approver } = options;
  const end = new AbortController();
  // Every connection listens to it, which is no leak.
  setMaxListeners(0, end.signal);
  const gate: Gate = {
    policy,
    ledger: new Ledger(record),
    questions: new HostQuestions({ approver, record }),
    waits: new Waits(),
    traffic: new Traffic(policy.network.uploadBytes),
    dialler: options.dialler,
    proxy: options.proxy,
    authority: opensTls(policy) ? await createAuthority() : undefined,
    carry: options.authorities ? createCarry({ authorities: options.authorities }) : carry,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    signal: end.signal,
  };
  return new SessionEgress(gate, end, options.firstConnection ?? 1);
}

function opensTls({ network }: GatePolicy): boolean {
  return network.hosts.some(({ allow, ask }) =>
    [...(allow?.items ?? []), ...(ask?.items ?? [])].some(({ value }) => value.inspect),
  );
}

class SessionEgress implements Egress {
  readonly forwards: readonly number[];
  readonly certificates: string | undefined;
  readonly #gate: Gate;
  readonly #end: AbortController;
  readonly #names: Names;
  readonly #forwards: ReadonlyMap<number, Forward>;
  readonly #open = new Set<Promise<void>>();
  readonly #pace = new Pace();
  #nextConnection: number;

  constructor(gate: Gate, end: AbortController, firstConnection: number) {
    const { policy, authority } = gate;
    this.#gate = gate;
    this.#end = end;
    this.#names = new Names(policy);
    this.#forwards = decideEffect(policy, "net").type === "deny" ? new Map() : forwardsOf(policy.network);
    this.#nextConnection = firstConnection;
    this.forwards = [...this.#forwards.keys()];
    this.certificates = authority?.certificate;
  }

  async lookup(name: string, by: Origin): Promise<AdmittedName | undefined> {
    const canonical = canonicalHost(name);
    try {
      if ("problem" in canonical) throw refusalOfText(canonical.problem);
      return this.#names.admit(canonical.host);
    } catch (error) {
      const host = "host" in canonical ? canonical.host : shownName(name);
      const attempt = { connection: null, call_id: by.callId, assumed: by.assumed, host, port: null };
      if (error instanceof EgressRefusal) this.#gate.ledger.refused(attempt, error, { rule: "", isDialled: false });
      return undefined;
    }
  }

  connect(to: Destination, by: Origin, stream: Duplex): void {
    stream.on("error", () => undefined);
    if (this.#end.signal.aborted) return void stream.destroy(ENDED);
    const connection = this.#nextConnection++;
    const { host, port, admit, refusal = UNKNOWN, used } = this.#placeOf(to);
    const attempt = { connection, call_id: by.callId, assumed: by.assumed, host, port, ...(used && { used }) };
    // What is refused here costs next to nothing, however many come at once.
    if (!admit) return this.#refuse(attempt, refusal, stream);
    if (this.#open.size >= MOST_CONNECTIONS) return this.#refuse(attempt, TOO_MANY, stream);
    if (!this.#pace.allows(host)) return this.#refuse(attempt, TOO_FAST, stream);
    const done = serve(this.#gate, { attempt, inside: stream, admit }).finally(() => this.#open.delete(done));
    this.#open.add(done);
  }

  async linesFor(callId: string, inside: RefusedInside, goesOn: boolean): Promise<string[]> {
    if (!goesOn) await this.#gate.waits.end(callId);
    return linesOf(await this.#gate.ledger.take(callId), inside);
  }

  async close(): Promise<void> {
    this.#end.abort(ENDED);
    await Promise.all(this.#open);
    await this.#gate.ledger.close();
  }

  #refuse(attempt: Attempt, refusal: EgressRefusal, stream: Duplex): void {
    this.#gate.ledger.refused(attempt, refusal, { rule: "", isDialled: false });
    stream.destroy(refusal);
  }

  /** Where a connection goes, as its records name it, and who judges it; nobody does where nothing leads to. */
  #placeOf(to: Destination): Place {
    const { policy } = this.#gate;
    const refusal = refusalOfAll(policy) ?? UNKNOWN;
    if (to.type === "forward") {
      const forward = this.#forwards.get(to.listen);
      if (!forward) return { host: "127.0.0.1", port: to.listen, refusal };
      const used = { host: "127.0.0.1", port: to.listen };
      return { ...forward, used, admit: (asked) => admitForward(this.#gate, forward, asked) };
    }
    const canonical = canonicalHost(to.name);
    if ("problem" in canonical) return { host: shownName(to.name), port: to.port, refusal };
    const target = { host: canonical.host, port: to.port };
    // A name has an address inside for as long as the session lasts, and nothing else leads here.
    const known = this.#names.get(target.host);
    if (!known) return { ...target, refusal };
    if (!known.ports.includes(target.port)) return { ...target, refusal: refusalBy(policy, target) };
    return { ...target, admit: (asked) => admitName(this.#gate, target, asked) };
  }
}

/** `refusal` where nobody judges it; `used`: what the program connected to, where that is not what it leads to. */
type Place = Target & { admit?: Admit; refusal?: EgressRefusal; used?: Target };

const ENDED = new EgressRefusal("the session ended");
// Made once: a flood of connections must not cost a stack trace each.
const UNKNOWN = new EgressRefusal("no name was given an address for it", {
  rule: "built-in/network.names",
  enable_with: "connect to a name that the policy admits, by its name",
});
const TOO_MANY = new EgressRefusal(`${MOST_CONNECTIONS} connections are open already`, {
  rule: "built-in/network.connections",
  enable_with: "close some of them first",
});

const TOO_FAST = new EgressRefusal("connections to it follow each other too fast", {
  rule: "built-in/network.connections",
  enable_with: "make fewer, or keep them open: 100 a second go on, after 1,000 at once",
});

function refusalOfText(problem: string): EgressRefusal {
  return new EgressRefusal(`it ${problem}`, { rule: "built-in/network.names", enable_with: "ask for a host name" });
}

/** What can be shown of a text that is no name. */
function shownName(text: string): string {
  return clip(visibleLine(text), 260);
}
