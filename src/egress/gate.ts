import type { Judging } from "../policy/decide-connection.ts";
import type { Policy } from "../policy/policy.ts";
import type { Carriage } from "./carriage.ts";
import type { Authority } from "./carry/authority.ts";
import type { Dialler } from "./dialler.ts";
import type { HostQuestions } from "./host-questions.ts";
import type { Ledger } from "./ledger.ts";
import type { Traffic } from "./traffic.ts";
import type { UpstreamProxy } from "./upstream-proxy.ts";
import type { Waits } from "./waits.ts";

/** The parts of {@link Policy} that the gate judges by. */
export type GatePolicy = Pick<Policy, "network"> & Judging;

/** What all connections of a session share. */
export type Gate = {
  policy: GatePolicy;
  ledger: Ledger;
  questions: HostQuestions;
  waits: Waits;
  traffic: Traffic;
  dialler: Dialler;
  proxy: UpstreamProxy | undefined;
  /** Undefined where no rule opens TLS. */
  authority: Authority | undefined;
  carry: (carriage: Carriage) => Promise<void>;
  /** For finding and reaching the other end, in all. */
  connectTimeoutMs: number;
  /** Ends everything. */
  signal: AbortSignal;
};
