import type { EffectKind } from "../core/effects.ts";

/** What an effect needs before it happens: nothing, a person's yes, or it never does. */
export type ApprovalSetting = "allow" | "ask" | "deny";

/** Sizes in bytes, times in seconds. */
export type PolicyLimits = {
  cpus: number;
  memoryBytes: number;
  /** Processes the agent may have at once. */
  pids: number;
  /** Size of /tmp. */
  tmpBytes: number;
  turns: number;
  toolCalls: number;
  seconds: number;
};

/** The rules in force for one session; read once, before the container starts. */
export type Policy = {
  /** Where it came from, as it stands in rule ids: `built-in`. */
  source: string;
  approval: Record<EffectKind, ApprovalSetting>;
  limits: PolicyLimits;
  /** Workspace-relative paths the container sees read-only when they exist at start. */
  readonly: readonly string[];
};

const GIB = 1024 ** 3;

/**
 * The policy of a session that nobody configured. Approval is `allow` because a session starts only after the
 * container has proved its wall; network is absent because the container has none.
 */
export const BUILT_IN_POLICY: Policy = {
  source: "built-in",
  approval: { read: "allow", write: "allow", exec: "allow", net: "allow" },
  limits: {
    cpus: 2,
    memoryBytes: 4 * GIB,
    pids: 512,
    tmpBytes: GIB,
    turns: 50,
    toolCalls: 500,
    seconds: 3600,
  },
  readonly: [".git", ".glovebox"],
};
