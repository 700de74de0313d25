import type { Entry } from "../core/events.ts";
import type { ToolCallPart } from "../core/messages.ts";
import { syntheticResult, type ToolResult } from "../core/tool-result.ts";
import { type CallDeps, type Performed, performCall, unperformed } from "./call.ts";
import type { LimitReached } from "./limits.ts";

export type GroupStop = { why: "aborted" } | { why: "limit"; limit: LimitReached };

export type GroupOptions = {
  signal: AbortSignal;
  /** Why the rest must not run, asked before each call; undefined while nothing stands against it. */
  stop: () => GroupStop | undefined;
};

/**
 * Runs the calls of one response one after another, in the order the model wrote them, so that each sees what the
 * earlier ones did. Every call gets exactly one result entry, in that order, also those that never start.
 */
export async function runCallGroup(
  calls: readonly ToolCallPart[],
  deps: CallDeps,
  { signal, stop }: GroupOptions,
): Promise<void> {
  for (const call of calls) {
    const stopped = stop();
    await settle(call, stopped ? unperformed(notRun(stopped)) : await performCall(call, deps, signal), deps);
  }
}

/** Gives every call of a cut response its result without running any: its arguments may be incomplete. */
export async function refuseTruncated(calls: readonly ToolCallPart[], deps: CallDeps): Promise<void> {
  for (const call of calls) await settle(call, unperformed(syntheticResult("truncated", TRUNCATED)), deps);
}

const TRUNCATED =
  "Not run: the response hit the output limit, so the arguments may be incomplete. Send the call again with complete arguments, smaller if possible.";

function notRun(stop: GroupStop): ToolResult {
  if (stop.why === "aborted") return syntheticResult("aborted_run", "Not run: the run was aborted.");
  const { limit, value } = stop.limit;
  return syntheticResult("limit", `Not run: the run reached its limit (${limit}, ${value}).`);
}

async function settle(call: ToolCallPart, { result, durationMs }: Performed, { journal }: CallDeps): Promise<void> {
  const duration = Math.round(durationMs);
  journal.show({ type: "tool_end", live: true, call_id: call.id, status: result.status, duration_ms: duration });
  await journal.append(resultEntry(call, result, duration));
}

function resultEntry(call: ToolCallPart, result: ToolResult, durationMs: number): Entry {
  return {
    type: "tool_result",
    call_id: call.id,
    tool_name: call.name,
    status: result.status,
    content: result.content,
    is_error: result.status !== "ok",
    ...(result.reason && { synthetic: true as const, reason: result.reason }),
    ...(result.truncated && { truncated: true as const }),
    ...(result.denial && { denial: result.denial }),
    duration_ms: durationMs,
    details: result.details,
  };
}
