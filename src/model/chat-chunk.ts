import * as z from "zod";

// Every field may be missing or null: gateways leave out what they like (O-LLM-03). What has an unexpected type and is
// not needed is treated as missing; only the shape of the answer itself must be right.
const text = z.string().nullish();
const count = z.number().nonnegative().nullish().catch(null);
const id = z.union([z.string(), z.number().transform(String)]).nullish();

const fragment = z.object({
  index: z.number().int().nullish(),
  id,
  /** What the provider wants back with the call, such as Gemini's thought signature. */
  extra_content: z.record(z.string(), z.unknown()).nullish().catch(null),
  function: z.object({ name: text, arguments: z.unknown().optional() }).nullish(),
});

const textPart = z.object({ type: z.literal("text"), text: z.string() });
const content = z.union([z.string(), z.array(z.union([textPart, z.unknown().transform(() => null)]))]).nullish();

const delta = z.object({
  content,
  refusal: text.catch(null),
  reasoning_content: text.catch(null),
  reasoning: text.catch(null),
  tool_calls: z.array(fragment).nullish(),
});

const usage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count, cache_write_tokens: count }).nullish().catch(null),
  completion_tokens_details: z.object({ reasoning_tokens: count }).nullish().catch(null),
  prompt_cache_hit_tokens: count,
  cost: z.coerce.number().nonnegative().nullish().catch(null),
});

const choice = z.object({
  index: z.number().int().nullish(),
  delta: delta.nullish(),
  /** Of a server that answers in one piece although a stream was asked for. */
  message: delta.nullish(),
  finish_reason: text,
  usage: usage.nullish().catch(null),
});

/** One piece of a Chat Completions answer, as lenient as the servers are. */
export const chatChunk = z.object({
  id: id.catch(null),
  model: text.catch(null),
  choices: z.array(choice).nullish(),
  usage: usage.nullish().catch(null),
});

export type ChatChunk = z.infer<typeof chatChunk>;
export type ChatDelta = z.infer<typeof delta>;
export type CallFragment = z.infer<typeof fragment>;
export type ChatUsage = z.infer<typeof usage>;

/** The text of a delta; some providers send a list of parts. */
export function deltaText(value: ChatDelta["content"]): string {
  if (typeof value === "string") return value;
  return (value ?? []).map((part) => part?.text ?? "").join("");
}
