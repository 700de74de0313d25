import { type CallDeps, executeCall, type Performed, prepareCall } from "../../src/agent/call.ts";
import type { ToolCallPart } from "../../src/core/messages.ts";

/** One call from its raw text to its result, as a run takes it there. */
export async function performCall(call: ToolCallPart, deps: CallDeps, signal: AbortSignal): Promise<Performed> {
  const ready = await prepareCall(call, deps, signal);
  return "result" in ready ? ready : executeCall(ready, deps, signal);
}
