import type { PolicyLimits } from "../../policy/policy.ts";
import type { Arena } from "./arena.ts";

/** What a step met, in a few words, and whether that is what it should have met. */
export type Seen = { holds: boolean; seen: string };

/** One thing that is done, and judged. */
export type Step = {
  /** Must succeed: without it a sandbox that does nothing at all would pass for one that contains. */
  isControl: boolean;
  what: string;
  act: (arena: Arena) => Promise<Seen>;
};

/** One way to break out or to do harm, with what shows that it did not. */
export type Attack = {
  /** As in `docs/attacks.md`. */
  id: string;
  title: string;
  steps: (arena: Arena) => Step[];
  /** Seconds after which it counts as not contained; 30 when omitted. */
  seconds?: number;
  /** It gets a sandbox of its own, with these limits; else it shares one. */
  alone?: Partial<PolicyLimits>;
  /** Why what it attacks cannot exist on this machine. */
  impossible?: (arena: Arena) => string | undefined;
};

/**
 * `not_proved`: a control failed, so that the refusals beside it mean nothing. `not_applicable`: what it attacks cannot
 * exist on this machine.
 */
export type AttackOutcome = "contained" | "not_contained" | "not_proved" | "not_applicable";

export type AttackResult = {
  id: string;
  title: string;
  outcome: AttackOutcome;
  /** What was seen, in a line. */
  evidence: string;
  ms: number;
};
