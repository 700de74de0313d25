import type { ResultPart } from "./messages.ts";

/**
 * What became of a tool call. `failed`: it ran and ended non-zero, or hit an error the model can mend. `lost`: the
 * sandbox went away while it ran, effects unknown.
 */
export type ToolStatus = "ok" | "failed" | "invalid" | "not_run" | "denied" | "timed_out" | "cancelled" | "lost";

/** Why a result was written by the controller and not by the tool (see {@link SYNTHETIC_STATUS}). */
export type SyntheticReason = keyof typeof SYNTHETIC_STATUS;

export const SYNTHETIC_STATUS = {
  interrupted: "cancelled",
  aborted_run: "not_run",
  truncated: "not_run",
  bad_arguments: "invalid",
  unknown_tool: "invalid",
  denied_policy: "denied",
  denied_user: "denied",
  denied_noninteractive: "denied",
  timeout: "timed_out",
  lost: "lost",
  limit: "not_run",
} as const satisfies Record<string, ToolStatus>;

/** Facts about a call for people and programs; the model sees only `content`. Names as they stand in the log. */
export type ToolDetails = {
  exit_code?: number | undefined;
  /** `SIGKILL`, when a signal ended the main process. */
  signal?: string | undefined;
  duration_ms?: number | undefined;
  /** Unified diff of an edit or a write. */
  diff?: string | undefined;
  /** Lines an edit or a write added and took away, in all, also those that `diff` leaves out. */
  added?: number | undefined;
  removed?: number | undefined;
  path?: string | undefined;
  bytes?: number | undefined;
  lines?: number | undefined;
  matches?: number | undefined;
  /** Bytes the command printed in all, also those that were cut. */
  output_bytes?: number | undefined;
  /** Where in the container the whole output can be read. */
  output_path?: string | undefined;
  /** Id of a background job this call started. */
  job_id?: number | undefined;
  /** What the container ran out of while the command ran; absent when nothing. */
  limits_reached?: ("memory" | "processes")[] | undefined;
  cpu_seconds?: number | undefined;
  peak_memory_bytes?: number | undefined;
};

/** Lines a change added and removed; counted in the diff for a log of before they stood beside it. Undefined of no change. */
export function changedLines({ added, removed, diff }: ToolDetails): { added: number; removed: number } | undefined {
  if (added !== undefined && removed !== undefined) return { added, removed };
  if (diff === undefined) return undefined;
  const lines = diff.split("\n");
  const count = (sign: string): number =>
    lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;
  return { added: count("+"), removed: count("-") };
}

/** Who said no, which rule, and what a person could do about it. */
export type Denial = { by: "containment" | "policy" | "approval"; rule: string; enable_with: string };

/** The result of one call. `content` is what the model reads, never empty. */
export type ToolResult = {
  status: ToolStatus;
  content: ResultPart[];
  details: ToolDetails;
  /** Something was cut from `content`; the text says what and where the rest is. */
  truncated?: boolean;
  denial?: Denial;
  /** Present when the controller wrote the result because the tool could not. */
  reason?: SyntheticReason;
};

export function textResult(status: ToolStatus, text: string, details: ToolDetails = {}): ToolResult {
  return { status, content: [{ type: "text", text }], details };
}

export function syntheticResult(reason: SyntheticReason, text: string, denial?: Denial): ToolResult {
  return { ...textResult(SYNTHETIC_STATUS[reason], text), reason, ...(denial && { denial }) };
}
