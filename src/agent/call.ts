import type { JsonObject } from "../core/json.ts";
import type { ToolCallPart } from "../core/messages.ts";
import { syntheticResult, type ToolResult } from "../core/tool-result.ts";
import type { ToolGate, Verdict } from "../gate/tool-gate.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { parseArguments, unknownTool } from "../tools/arguments.ts";
import { contractOf, isToolName, type ToolName, type ToolOffer } from "../tools/catalogue.ts";
import type { Journal } from "./journal.ts";
import type { RunClock } from "./limits.ts";

export type CallDeps = {
  journal: Journal;
  gate: ToolGate;
  sandbox: Pick<Sandbox, "call" | "failure">;
  clock: RunClock;
  /** The longest a call may take that can say how long it takes. */
  callSeconds: number;
  /** What the model was offered; nothing else runs. */
  tools: readonly ToolOffer[];
  /** Takes words of the person for the model, which it reads after the results of the present calls. */
  steer: (text: string) => unknown;
};

/** What became of a call, and how long it ran, its approval not counted. */
export type Performed = { result: ToolResult; durationMs: number };

/** A call that may run, with the arguments it runs with. */
export type Prepared = { call: ToolCallPart; name: ToolName; args: JsonObject };

/**
 * Takes one committed call from its raw text to the point where it may run, or to the result that says why it may not:
 * unknown tool, bad arguments, denial. Rejects only when the log cannot be written.
 */
export async function prepareCall(
  call: ToolCallPart,
  deps: CallDeps,
  signal: AbortSignal,
): Promise<Prepared | Performed> {
  const offered = deps.tools.map(({ name }) => name);
  if (!isToolName(call.name) || !offered.includes(call.name)) {
    return unperformed(syntheticResult("unknown_tool", unknownTool(call.name, offered)));
  }
  const parsed = parseArguments(call.name, call.arguments);
  if (!parsed.ok) return unperformed(syntheticResult("bad_arguments", parsed.problem));
  const args = (contractOf(call.name).within?.(parsed.args, deps.callSeconds) ?? parsed.args) as JsonObject;
  const prepared = { call, name: call.name, args };
  const verdict = await judge(prepared, deps, signal);
  if (verdict.type === "allow") return prepared;
  if (verdict.steering !== undefined) deps.steer(verdict.steering);
  return unperformed(syntheticResult(verdict.reason, verdict.text, verdict.denial));
}

/** The result of a call that has not run. */
export function unperformed(result: ToolResult): Performed {
  return { result, durationMs: 0 };
}

async function judge({ call, name, args }: Prepared, deps: CallDeps, signal: AbortSignal): Promise<Verdict> {
  const effects = contractOf(name).effects(args);
  deps.clock.pause();
  const verdict = await deps.gate.judge({ callId: call.id, tool: name, args, effects }, signal);
  deps.clock.resume();
  await deps.journal.append({
    type: "call_prepared",
    call_id: call.id,
    tool_name: name,
    args,
    effects: effects.map((effect) => effect.kind),
    policy_decision: verdict.decision.type,
    rule_id: verdict.decision.rule,
  });
  if (verdict.approval) await deps.journal.append({ type: "approval", call_id: call.id, ...verdict.approval });
  return verdict;
}

/** Runs a prepared call. A cancel and a lost container are results too; rejects only when the log cannot be written. */
export async function executeCall(
  { call, name, args }: Prepared,
  deps: CallDeps,
  signal: AbortSignal,
): Promise<Performed> {
  const contract = contractOf(name);
  await deps.journal.append({ type: "call_started", call_id: call.id, replay: contract.replay });
  const startedAt = performance.now();
  const result = await deps.sandbox.call(
    { tool: name, args, deadlineMs: contract.deadlineMs(args), readsOnly: contract.replay === "safe", callId: call.id },
    { signal, onOutput: (text) => deps.journal.show({ type: "tool_output", live: true, call_id: call.id, text }) },
  );
  return { result, durationMs: performance.now() - startedAt };
}
