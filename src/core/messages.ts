/** One piece of text, well-formed UTF-16 (no lone surrogate). */
export type TextPart = { type: "text"; text: string };
/** A picture; `data` is base64, `mime` one of png, jpeg, gif, webp. */
export type ImagePart = { type: "image"; mime: string; data: string };
/** Reasoning the provider returned; shown to people, sent back only in the form `field` it came in. */
export type ReasoningPart = { type: "reasoning"; text: string; field: string };
/** A tool call as the model wrote it: `arguments` is the raw string, not yet parsed or trusted. */
export type ToolCallPart = { type: "tool_call"; id: string; name: string; arguments: string };

export type AssistantPart = TextPart | ReasoningPart | ToolCallPart;
export type ResultPart = TextPart | ImagePart;

/** Why the model stopped. Anything a provider says outside this set is an error, never `stop`. */
export type StopReason = "stop" | "tool_use" | "length" | "refusal" | "aborted";

/** Tokens of one request, classes mutually exclusive; `reasoning` is an informational part of `output`. */
export type Usage = { input: number; output: number; reasoning: number; cache_read: number; cache_write: number };

export const NO_USAGE: Usage = { input: 0, output: 0, reasoning: 0, cache_read: 0, cache_write: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
  };
}

/** One complete response of a model. */
export type AssistantMessage = {
  /** In the order the model produced them. */
  content: AssistantPart[];
  stopReason: StopReason;
  /** Undefined when the provider reported none. */
  usage: Usage | undefined;
  /** Money the provider itself reported, in USD. */
  reportedUsd: number | undefined;
  responseId: string | undefined;
  /** The model that really answered, as the provider names it. */
  model: string;
};

/** What the model is shown, oldest first. Every `tool` message answers one call of the assistant message before it. */
export type Message =
  | { role: "user"; content: string }
  | { role: "assistant"; content: AssistantPart[] }
  | { role: "tool"; callId: string; toolName: string; content: ResultPart[]; isError: boolean };

export function textOf(parts: readonly (AssistantPart | ResultPart)[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

export function toolCallsOf(parts: readonly AssistantPart[]): ToolCallPart[] {
  return parts.filter((part) => part.type === "tool_call");
}
