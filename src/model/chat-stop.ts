import type { StopReason } from "../core/messages.ts";

/** What servers call the end of an answer, lower case. `broken`: the server gave up, not the model. */
const STOP_REASONS: Readonly<Record<string, StopReason | "broken">> = {
  stop: "stop",
  end: "stop",
  eos: "stop",
  eos_token: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  tool_calls: "tool_use",
  tool_use: "tool_use",
  function_call: "tool_use",
  length: "length",
  max_tokens: "length",
  max_output_tokens: "length",
  model_context_window_exceeded: "length",
  "response.incomplete": "length",
  content_filter: "refusal",
  refusal: "refusal",
  safety: "refusal",
  error: "broken",
  abort: "broken",
  insufficient_system_resource: "broken",
};

/** What a `finish_reason` means; undefined for one nobody has told us of, which must not count as `stop`. */
export function stopReasonOf(finishReason: string): StopReason | "broken" | undefined {
  const name = finishReason.toLowerCase();
  return Object.hasOwn(STOP_REASONS, name) ? STOP_REASONS[name] : undefined;
}
