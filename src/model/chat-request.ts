import { isDeepStrictEqual } from "node:util";
import type { ChatCompletionContentPart, ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { isJsonObject, mapStrings } from "../core/json.ts";
import { type AssistantPart, type ImagePart, type Message, type ResultPart, textOf } from "../core/messages.ts";
import { wellFormed } from "../core/truncate.ts";
import type { ExtraContent } from "./call-assembly.ts";
import { CallIds } from "./call-ids.ts";

/** Fields in which servers return reasoning and take it back; any other name from a log is not sent. */
const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;

type Abilities = {
  /** Whether the model accepts images. */
  sees: boolean;
  /** Opaque fields the provider wants back, by the id of their call. */
  extras: ReadonlyMap<string, ExtraContent>;
};

/** A conversation as Chat Completions messages. */
export function chatMessages(
  system: string,
  messages: readonly Message[],
  { sees, extras }: Abilities,
): ChatCompletionMessageParam[] {
  const ids = new CallIds();
  const sent: ChatCompletionMessageParam[] = system === "" ? [] : [{ role: "system", content: wellFormed(system) }];
  let images: { callId: string; image: ImagePart }[] = [];
  const flushImages = () => {
    if (images.length > 0) sent.push({ role: "user", content: images.flatMap(imageParts) });
    images = [];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      const callId = ids.result(message.callId);
      // A result whose call is not shown would be refused by every provider.
      if (callId === undefined) continue;
      sent.push({ role: "tool", tool_call_id: callId, content: resultText(message.content, sees) });
      if (sees) images.push(...imagesOf(message.content).map((image) => ({ callId, image })));
      continue;
    }
    // Images cannot stand in a tool message, and nothing may stand between the results of one answer.
    flushImages();
    if (message.role === "user") sent.push({ role: "user", content: wellFormed(message.content) });
    else sent.push(...assistantMessage(message.content, ids.calls(message.content), extras));
  }
  flushImages();
  return sent;
}

function assistantMessage(
  parts: readonly AssistantPart[],
  callIds: string[],
  extras: Abilities["extras"],
): ChatCompletionMessageParam[] {
  const text = wellFormed(textOf(parts));
  const calls = parts
    .filter((part) => part.type === "tool_call")
    .map(({ id, name, arguments: args }, index) => ({
      id: callIds[index] ?? "",
      type: "function" as const,
      ...(extras.has(id) && { extra_content: mapStrings(extras.get(id), wellFormed) }),
      function: { name: wellFormed(name), arguments: acceptableArguments(args) },
    }));
  if (text === "" && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: text === "" ? null : text,
      ...reasoningOf(parts),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
}

/** Servers parse the arguments of old calls and refuse what is no JSON object, or half a pair in an escape of it; the result quotes what really came. */
function acceptableArguments(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) return "{}";
    const healed = mapStrings(value, wellFormed);
    // As it came wherever it can be: another spelling would be another beginning of each later request.
    return isDeepStrictEqual(value, healed) ? wellFormed(text) : JSON.stringify(healed);
  } catch {
    return "{}";
  }
}

function reasoningOf(parts: readonly AssistantPart[]): Record<string, string> {
  const found = REASONING_FIELDS.flatMap((field) => {
    const texts = parts.flatMap((part) => (part.type === "reasoning" && part.field === field ? [part.text] : []));
    return texts.length > 0 ? [[field, wellFormed(texts.join(""))]] : [];
  });
  return Object.fromEntries(found);
}

function resultText(parts: readonly ResultPart[], sees: boolean): string {
  const text = textOf(parts);
  const count = imagesOf(parts).length;
  const note =
    count === 0 ? "" : sees ? `(${count} image(s) follow)` : `(${count} image(s) left out: this model sees none)`;
  return [text.trim() === "" ? "" : wellFormed(text), note].filter((line) => line !== "").join("\n") || "(no output)";
}

function imageParts({ callId, image }: { callId: string; image: ImagePart }): ChatCompletionContentPart[] {
  return [
    { type: "text", text: `Image from the result of call ${callId}:` },
    { type: "image_url", image_url: { url: `data:${image.mime};base64,${image.data}` } },
  ];
}

function imagesOf(parts: readonly ResultPart[]): ImagePart[] {
  return parts.filter((part) => part.type === "image");
}
