import type { Entry } from "../core/events.ts";
import type { ToolCallPart } from "../core/messages.ts";
import { syntheticResult, type ToolResult } from "../core/tool-result.ts";
import { contractOf, isToolName } from "../tools/catalogue.ts";
import { type CallDeps, executeCall, type Performed, type Prepared, prepareCall, unperformed } from "./call.ts";
import type { LimitReached } from "./limits.ts";

export type GroupStop = { why: "aborted" } | { why: "limit"; limit: LimitReached };

export type GroupOptions = {
  signal: AbortSignal;
  /** Why the rest must not run, asked before each call; undefined while nothing stands against it. */
  stop: () => GroupStop | undefined;
};

/** Calls that run at the same time: each may hold a search program and a picture of 20 MiB. */
const AT_ONCE = 8;

/**
 * Runs the calls of one response in the order the model wrote them, so that each sees what the earlier ones did; calls
 * that only read and stand beside each other run together. Every call gets exactly one result entry, in that order,
 * also those that never start.
 */
export async function runCallGroup(
  calls: readonly ToolCallPart[],
  deps: CallDeps,
  options: GroupOptions,
): Promise<void> {
  for (const wave of wavesOf(calls)) await runWave(wave, deps, options);
}

function wavesOf(calls: readonly ToolCallPart[]): ToolCallPart[][] {
  const waves: ToolCallPart[][] = [];
  for (const [index, call] of calls.entries()) {
    const before = calls[index - 1];
    if (before !== undefined && onlyReads(before) && onlyReads(call)) waves.at(-1)?.push(call);
    else waves.push([call]);
  }
  return waves;
}

function onlyReads({ name }: ToolCallPart): boolean {
  return isToolName(name) && contractOf(name).replay === "safe";
}

/** Prepares the calls one by one, so that questions come in their order, and lets each run as soon as it may. */
async function runWave(wave: readonly ToolCallPart[], deps: CallDeps, options: GroupOptions): Promise<void> {
  const performing: Promise<Performed>[] = [];
  let prepared: Promise<unknown> = Promise.resolve();
  for (const [index, call] of wave.entries()) {
    const free = Promise.allSettled([prepared, performing[index - AT_ONCE]]);
    const next = free.then(() => prepare(call, deps, options));
    performing.push(next.then((ready) => perform(call, ready, deps, options)));
    prepared = next;
  }
  // Also what fails behind a failure is waited for: nothing may still run when the run is over.
  const all = Promise.allSettled(performing);
  try {
    for (const [index, call] of wave.entries()) {
      const performed = await performing[index];
      if (performed) await deps.journal.append(resultEntry(call, performed));
    }
  } finally {
    await all;
  }
}

function prepare(call: ToolCallPart, deps: CallDeps, { signal, stop }: GroupOptions): Promise<Prepared | Performed> {
  const stopped = stop();
  return stopped ? Promise.resolve(unperformed(notRun(stopped))) : prepareCall(call, deps, signal);
}

async function perform(
  call: ToolCallPart,
  ready: Prepared | Performed,
  deps: CallDeps,
  { signal }: GroupOptions,
): Promise<Performed> {
  const performed = "result" in ready ? ready : await executeCall(ready, deps, signal);
  showEnd(call, performed, deps);
  return performed;
}

/** Gives every call of a cut response its result without running any: its arguments may be incomplete. */
export async function refuseTruncated(calls: readonly ToolCallPart[], deps: CallDeps): Promise<void> {
  for (const call of calls) {
    const performed = unperformed(syntheticResult("truncated", TRUNCATED));
    showEnd(call, performed, deps);
    await deps.journal.append(resultEntry(call, performed));
  }
}

const TRUNCATED =
  "Not run: the response hit the output limit, so the arguments may be incomplete. Send the call again with complete arguments, smaller if possible.";

function notRun(stop: GroupStop): ToolResult {
  if (stop.why === "aborted") return syntheticResult("aborted_run", "Not run: the run was aborted.");
  const { limit, value } = stop.limit;
  return syntheticResult("limit", `Not run: the run reached its limit (${limit}, ${value}).`);
}

function showEnd({ id }: ToolCallPart, { result, durationMs }: Performed, { journal }: CallDeps): void {
  journal.show({
    type: "tool_end",
    live: true,
    call_id: id,
    status: result.status,
    duration_ms: Math.round(durationMs),
  });
}

function resultEntry(call: ToolCallPart, { result, durationMs }: Performed): Entry {
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
    duration_ms: Math.round(durationMs),
    details: result.details,
  };
}
