import { type Message, textOf } from "../core/messages.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import type { Expectation } from "./script-schema.ts";

const SHOWN_CHARS = 400;

/** What is not as expected of the last tool result in `messages`, in words; undefined when all is. */
export function unmet({ last_result: wanted }: Expectation, messages: readonly Message[]): string | undefined {
  const last = messages.findLast((message) => message.role === "tool");
  if (!last) return "expected a tool result, but there is none yet";
  const text = textOf(last.content);
  const status = last.isError ? "error" : "ok";
  const there = `the result of \`${last.toolName}\` (${status}) was ${shown(text)}`;
  for (const part of listOf(wanted.contains)) {
    if (!text.includes(part)) return `expected the last result to contain ${shown(part)}; ${there}`;
  }
  for (const part of listOf(wanted.not_contains)) {
    if (text.includes(part)) return `expected the last result not to contain ${shown(part)}; ${there}`;
  }
  if (wanted.matches !== undefined && !new RegExp(wanted.matches, "mu").test(text)) {
    return `expected the last result to match ${shown(wanted.matches)}; ${there}`;
  }
  if (wanted.status !== undefined && wanted.status !== status) {
    return `expected the last result to have status \`${wanted.status}\`; ${there}`;
  }
  return undefined;
}

function listOf(texts: string | string[] | undefined): string[] {
  return texts === undefined ? [] : [texts].flat();
}

function shown(text: string): string {
  return `\`${visibleLine(clip(text, SHOWN_CHARS))}\``;
}
