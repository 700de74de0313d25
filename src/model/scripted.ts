import { setTimeout as sleepMs } from "node:timers/promises";
import { GloveboxError } from "../core/errors.ts";
import type { AssistantMessage, AssistantPart, Message, ToolCallPart } from "../core/messages.ts";
import { wellFormed } from "../core/truncate.ts";
import { callIdsIn } from "./call-ids.ts";
import { unmet } from "./expectation.ts";
import { httpFailure } from "./http-failure.ts";
import { abortedMessage, type ModelClient, type ModelRequest, type RespondOptions } from "./model-client.ts";
import type { PlacedItem } from "./script-file.ts";
import type { ScriptItem } from "./script-schema.ts";

type Script = { name: string; items: readonly PlacedItem[] };

/**
 * A model that plays one item of a script a request. After the last item it answers nothing and stops. Throws
 * `EXPECTATION_FAILED` when the conversation is not what the item expects.
 */
export function createScriptedClient(script: Script): ModelClient {
  const progress = { next: 0, calls: 0 };
  return {
    provider: "scripted",
    id: script.name,
    api: "scripted",
    respond: (request, options) => playNext(script, progress, request, options),
  };
}

async function playNext(
  { name, items }: Script,
  progress: { next: number; calls: number },
  { messages }: ModelRequest,
  { signal, onDelta }: RespondOptions,
): Promise<AssistantMessage> {
  if (signal.aborted) return abortedMessage(name);
  const number = progress.next++;
  const placed = items[number];
  if (!placed) return answer(name, {}, []);
  const { item, line } = placed;
  check(item, messages, `Script \`${name}\`, item ${number + 1} (line ${line})`);
  if (item.delay_ms && !(await waited(item.delay_ms, signal))) return abortedMessage(name);
  if (item.error) throw scriptedFailure(item.error, name);
  for (const text of item.text?.match(/\S+\s*|\s+/g) ?? []) onDelta({ type: "text", text });
  // A resumed conversation has calls already; their ids must not come again.
  progress.calls = Math.max(progress.calls, callIdsIn(messages).size);
  const calls = (item.calls ?? []).map((call) => toolCall(call, item.raw, `call_${++progress.calls}`));
  return answer(name, item, calls);
}

function check(item: ScriptItem, messages: readonly Message[], where: string): void {
  const problem = item.expect && unmet(item.expect, messages);
  if (problem) throw new GloveboxError("EXPECTATION_FAILED", `${where}: ${problem}`);
}

function toolCall(entry: Record<string, unknown>, itemRaw: string | undefined, id: string): ToolCallPart {
  const name = Object.keys(entry).find((key) => key !== "raw") ?? "";
  const args = entry[name];
  const raw = itemRaw ?? textOfRaw(entry["raw"]) ?? rawWithin(args);
  return { type: "tool_call", id, name, arguments: raw ?? wellFormed(JSON.stringify(args ?? {})) };
}

/** `bash: { raw: TEXT }`, for a list of calls of which several are broken. */
function rawWithin(args: unknown): string | undefined {
  if (typeof args !== "object" || args === null || Object.keys(args).join() !== "raw") return undefined;
  return textOfRaw("raw" in args ? args.raw : undefined);
}

function textOfRaw(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function answer(model: string, item: ScriptItem, calls: ToolCallPart[]): AssistantMessage {
  const content: AssistantPart[] = item.text ? [{ type: "text", text: wellFormed(item.text) }, ...calls] : calls;
  return {
    content,
    stopReason: item.stop ?? (calls.length > 0 ? "tool_use" : "stop"),
    usage: item.usage,
    reportedUsd: undefined,
    responseId: undefined,
    model,
  };
}

function scriptedFailure({ status, body = "" }: NonNullable<ScriptItem["error"]>, name: string) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const endpoint = { provider: "scripted", model: name, url: `scripted:${name}`, mask: (said: string) => said };
  return httpFailure({ status, body: text }, endpoint);
}

async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleepMs(ms, undefined, { signal });
    return true;
  } catch (thrown) {
    if (signal.aborted) return false;
    throw thrown;
  }
}
