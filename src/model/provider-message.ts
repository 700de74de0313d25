import { isJsonObject } from "../core/json.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";

const MAX_CHARS = 500;

/** What the body of an error says, for a person: one line, clipped, harmless on a terminal, without secrets. */
export function providerMessage(body: string, mask: (text: string) => string): string {
  // Masked before it is escaped and clipped: both could cut a secret into parts that no longer match.
  return clip(visibleLine(mask(messageIn(body)).trim()), MAX_CHARS);
}

export function isHtml(body: string): boolean {
  return /^[\s\ufeff]*<(!doctype|html|head|body|\?xml|!--)/i.test(body);
}

/** The names (`code`, `type`) a body gives to its error, to be judged with its words. */
export function errorNames(body: string): string {
  const parsed = parse(body);
  const outer = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isJsonObject(outer)) return "";
  const error = isJsonObject(outer["error"]) ? outer["error"] : outer;
  return [error["code"], error["type"]].filter((name) => typeof name === "string").join(" ");
}

function messageIn(body: string): string {
  return messageOfValue(parse(body)) ?? body;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Of the shapes met: `{error:{message}}`, `{error:"…"}`, `{message}`, `{detail}`, and Gemini's list of the first. */
function messageOfValue(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return messageOfValue(value[0]);
  if (!isJsonObject(value)) return undefined;
  const metadata = isJsonObject(value["metadata"]) ? value["metadata"]["raw"] : undefined;
  const message = messageOfValue(value["error"] ?? value["message"] ?? value["detail"]);
  // OpenRouter's own message is often only "Provider returned error"; the reason stands in `metadata.raw`.
  return typeof metadata === "string" && message ? `${message}: ${metadata}` : message;
}
