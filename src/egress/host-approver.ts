/** A connection that waits for a yes. */
export type HostQuestion = {
  /** Canonical: what is shown is what is dialled. */
  host: string;
  port: number;
  /** The rule that asks. */
  rule: string;
  /** The call that wants it first; others may wait for the same answer. */
  callId: string | null;
};

/**
 * `connection`: those that wait for this answer and no other; `session`: every one to this host and port. A no holds
 * for the rest of the call.
 */
export type HostAnswer = { type: "yes"; scope: "connection" | "session" } | { type: "no" };

/** Whoever answers. One that throws, or whose signal aborts, has said no. */
export type HostApprover = {
  readonly by: "person" | "nobody";
  ask: (question: HostQuestion, signal: AbortSignal) => Promise<HostAnswer>;
};

/** Stands where a person should be and is not. */
export const NOBODY_TO_ASK: HostApprover = { by: "nobody", ask: () => Promise.resolve({ type: "no" }) };
