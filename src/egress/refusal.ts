import type { Denial } from "../core/tool-result.ts";

/**
 * Why a connection does not go on. `denied`: a rule, or what no rule can admit; `failed`: allowed, and it came to
 * nothing. The message has no full stop and fits into a line.
 */
export class EgressRefusal extends Error {
  readonly verdict: "denied" | "failed";
  /** Undefined for what failed. */
  readonly denial: Pick<Denial, "rule" | "enable_with"> | undefined;

  constructor(message: string, denial?: Pick<Denial, "rule" | "enable_with">) {
    super(message);
    this.verdict = denial ? "denied" : "failed";
    this.denial = denial;
  }
}
