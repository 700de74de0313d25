import type { EffectKind } from "./effects.ts";
import type { ErrorCode } from "./errors.ts";
import type { Json } from "./json.ts";
import type { AssistantPart, ResultPart, StopReason, Usage } from "./messages.ts";
import type { Quarantined } from "./quarantine.ts";
import type { Denial, SyntheticReason, ToolDetails, ToolStatus } from "./tool-result.ts";

/**
 * The facts of a session, named as they stand in the log. Entries build the context and form a tree by `parent_id`;
 * records do not; live events are shown and never logged.
 */

/** Line 1 of a log. `workspace_id` is a hash of the workspace's path. */
export type SessionHeader = {
  type: "session";
  version: 1;
  id: string;
  created_at: string;
  cwd: string;
  workspace_id: string;
  app_version: string;
};

export type Entry =
  | { type: "system"; text: string; tools: { name: string; description: string; parameters: Json }[] }
  | { type: "user"; source: "prompt" | "steer"; content: string }
  | {
      type: "assistant";
      model: string;
      provider: string;
      api: string;
      stop_reason: StopReason;
      content: AssistantPart[];
      usage: Usage | null;
      reported_usd: number | null;
      response_id: string | null;
    }
  | {
      type: "tool_result";
      call_id: string;
      tool_name: string;
      status: ToolStatus;
      content: ResultPart[];
      is_error: boolean;
      synthetic?: true;
      reason?: SyntheticReason;
      truncated?: true;
      denial?: Denial;
      duration_ms: number;
      details: ToolDetails;
    };

export type LimitsSet = { turns: number; tool_calls: number; seconds: number };
export type Outcome = "completed" | "failed" | "aborted" | "limit" | "refused" | "truncated";
/** An error as programs see it; `code` is one of {@link ErrorCode}. */
export type ErrorFact = { code: ErrorCode; message: string; hint: string | null };

export type SessionRecord =
  | { type: "run_started"; limits: LimitsSet; policy_hash: string; image_digest: string }
  | { type: "run_end"; outcome: Outcome; error: ErrorFact | null }
  | { type: "request_started"; number: number }
  | { type: "request_failed"; number: number; error: ErrorFact; partial_chars: number; will_retry: boolean }
  | {
      type: "call_prepared";
      call_id: string;
      tool_name: string;
      args: Json;
      effects: EffectKind[];
      policy_decision: "allow" | "ask" | "deny";
      rule_id: string;
    }
  | {
      type: "approval";
      call_id: string;
      decision: "yes" | "no";
      by: "person" | "flag" | "nobody" | "grant";
      scope: "call" | "session";
      reason: string | null;
    }
  | { type: "call_started"; call_id: string; replay: "safe" | "never" }
  | { type: "usage"; cause: "response"; usage: Usage; reported_usd: number | null }
  | {
      type: "sandbox";
      event: "started" | "selftest" | "toolhost_restarted" | "remounted" | "links_protected" | "lost" | "ended";
      container_id: string;
      image: string;
      image_digest: string;
      detail: Json;
    }
  | ({ type: "quarantine" } & Quarantined)
  | EgressRecord
  | {
      type: "egress_end";
      /** As in the `egress` record before it. */
      connection: number;
      bytes_up: number;
      bytes_down: number;
      duration_ms: number;
      /** What ended it, when that was not one of its two ends. */
      why: string | null;
    }
  | {
      type: "host_approval";
      host: string;
      port: number;
      decision: "yes" | "no";
      by: "person" | "nobody";
      scope: "connection" | "session";
      rule_id: string;
    }
  | {
      type: "policy";
      hash: string;
      /** The files it was made from, by their layer, with the SHA-256 of what was read. */
      sources: { layer: string; file: string; sha256: string; trusted: boolean }[];
      /** What was asked for beyond what binds, with the rule that asks and the one that stands against it. */
      dropped: { rule: string; asked: string; by: string; kept: string }[];
      warnings: string[];
    };

/**
 * The verdict on a connection, or on the question for a name. What is allowed is recorded before anything is dialled;
 * a `failed` one was allowed and came to nothing.
 */
export type EgressRecord = {
  type: "egress";
  /** Unique in a session; null for a question for a name. */
  connection: number | null;
  call_id: string | null;
  /** Whose it is could not be told, so the running call is named. */
  assumed: boolean;
  /** Canonical; of a name that is none, what can be shown of it. */
  host: string;
  /** Null for a question for a name. */
  port: number | null;
  verdict: "allowed" | "denied" | "failed";
  rule_id: string;
  /** What was dialled; several with commas, of which the first that answered was taken; of a denied one, what was not. */
  address: string | null;
  via: "direct" | "proxy" | "forward" | null;
  /** Why it was denied or failed. */
  why: string | null;
  /** How many the same thing happened to; above 1 only where nothing was dialled. */
  count: number;
};

/** An entry or record before the log has numbered it. */
export type Fact = Entry | SessionRecord;

/** What the log adds to each line. `parent_id` is the entry before it on its branch; records have none. */
export type Stamp = { seq: number; id: string; ts: string; mono: number; parent_id?: string | null };
export type LoggedEvent = Fact & Stamp;

/** Shown while things happen, never stored. `text` is raw: whoever prints it makes it harmless. */
export type LiveEvent =
  | { type: "text_delta"; live: true; text: string }
  | { type: "reasoning_delta"; live: true; text: string }
  | { type: "tool_output"; live: true; call_id: string; text: string }
  | { type: "tool_end"; live: true; call_id: string; status: ToolStatus; duration_ms: number }
  | { type: "retry_wait"; live: true; delay_ms: number; attempt: number; message: string }
  | { type: "status"; live: true; text: string };

export type SessionEvent = SessionHeader | LoggedEvent | LiveEvent;

export function isEntry(fact: Fact): fact is Entry {
  return ENTRY_TYPES.has(fact.type);
}

const ENTRY_TYPES: ReadonlySet<string> = new Set([
  "system",
  "user",
  "assistant",
  "tool_result",
] satisfies Entry["type"][]);
