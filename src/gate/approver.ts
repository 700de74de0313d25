import type { Effect } from "../core/effects.ts";
import type { Json } from "../core/json.ts";

/** A call that waits for a yes: what it would do, with the complete arguments it would run with. */
export type Question = {
  callId: string;
  tool: string;
  args: { [key: string]: Json };
  effects: readonly Effect[];
  rule: string;
  /** What "always" would cover, in words; null when it can cover nothing beyond this call. */
  grant: string | null;
};

/**
 * A yes covers one call; with `session` also what the question's `grant` says, until the session ends. The reason of a
 * no is a person's own words: the model reads them.
 */
export type Answer = { type: "yes"; scope: "call" | "session" } | { type: "no"; reason: string | null };

/**
 * Whoever answers questions. An approver that throws, or whose signal aborts, has said no.
 */
export type Approver = {
  readonly by: "person" | "flag" | "nobody";
  ask: (question: Question, signal: AbortSignal) => Promise<Answer>;
};

/** Says yes to everything (`--approve auto`). */
export const YES_APPROVER: Approver = { by: "flag", ask: () => Promise.resolve({ type: "yes", scope: "call" }) };

/** Says no to everything (`--approve deny`). */
export const NO_APPROVER: Approver = { by: "flag", ask: () => Promise.resolve({ type: "no", reason: null }) };

/** Stands where a person should be and is not: no terminal, no answer. */
export const ABSENT_APPROVER: Approver = { by: "nobody", ask: () => Promise.resolve({ type: "no", reason: null }) };
