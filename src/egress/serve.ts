import type { Duplex } from "node:stream";
import { Departure } from "./departure.ts";
import { withAbort } from "./dial/with-abort.ts";
import type { Gate } from "./gate.ts";
import type { Attempt } from "./ledger.ts";
import type { Admit } from "./passage.ts";
import { EgressRefusal } from "./refusal.ts";
import type { Waiting } from "./waits.ts";

type Arrival = { attempt: Attempt & { connection: number; port: number }; inside: Duplex; admit: Admit };

/** One connection from the word of policy to its end, with its records. Never rejects; `inside` is closed by then. */
export function serve(gate: Gate, arrival: Arrival): Promise<void> {
  const { attempt, inside } = arrival;
  return withAbort(gate.signal, async (own) => {
    const leave = (): void => own.abort(new EgressRefusal("the program gave it up"));
    inside.once("close", leave);
    if (inside.destroyed) leave();
    const departure = new Departure(gate, attempt, own.signal);
    const waiting = gate.waits.begin(attempt, leave);
    try {
      await admitAndCarry(gate, arrival, { departure, waiting });
      departure.end(null);
    } catch (error) {
      inside.destroy(departure.refuse(error));
    } finally {
      waiting.over();
    }
  });
}

type Progress = { departure: Departure; waiting: Waiting };

async function admitAndCarry(gate: Gate, arrival: Arrival, { departure, waiting }: Progress): Promise<void> {
  const { attempt, inside, admit } = arrival;
  const passage = await admit({ callId: attempt.call_id, signal: departure.signal, onAsk: waiting.ask });
  departure.admit(passage);
  const { treatment, judge, strictPaths, ruleAs } = passage;
  const full = gate.traffic.refusalOf(attempt.host);
  if (full) throw full;
  await gate.carry({
    inside,
    name: attempt.host,
    port: attempt.port,
    treatment,
    judge,
    strictPaths,
    ruleAs,
    dial: () => {
      waiting.over();
      return departure.dial(passage);
    },
    count: departure.meter.count,
    refused: (refusal) => void departure.refuse(refusal),
    certify: certifierOf(gate),
    // Not the departure's: what a program has sent is still delivered after it has gone.
    signal: gate.signal,
  });
}

function certifierOf({ authority }: Gate): (name: string) => Promise<{ key: string; cert: string }> {
  if (authority) return (name) => authority.certify(name);
  return () => Promise.reject(new EgressRefusal("no rule opens TLS here"));
}
