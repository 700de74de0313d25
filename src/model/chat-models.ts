import type OpenAI from "openai";
import { isJsonObject } from "../core/json.ts";
import { nearest } from "../core/nearest.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import { readText } from "./chat-http.ts";
import { type Endpoint, ModelFailure } from "./failure.ts";

const ASK_MS = 3_000;
const MAX_LIST_CHARS = 8 * 1024 * 1024;
const SHOWN = 3;

/** `failure` with the names nearest to the model that was not found, if the server lists its models within 3 s. */
export async function withModelNames(
  failure: ModelFailure,
  openai: OpenAI,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<ModelFailure> {
  const names = await modelNames(openai, AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]));
  if (names.length === 0 || names.includes(endpoint.model)) return failure;
  const shown = nearestNames(endpoint.model, names).map((name) => `\`${clip(visibleLine(name), 100)}\``);
  const hint = `The server has ${names.length} models, such as ${shown.join(", ")}`;
  const named = new ModelFailure(failure.code, failure.message, { retry: failure.retry, hint });
  named.partial = failure.partial;
  return named;
}

async function modelNames(openai: OpenAI, signal: AbortSignal): Promise<string[]> {
  try {
    const response = await openai.get("/models", { signal, timeout: ASK_MS }).asResponse();
    const value: unknown = JSON.parse(await readText(response, MAX_LIST_CHARS));
    const list = isJsonObject(value) && Array.isArray(value["data"]) ? value["data"] : [];
    return list.flatMap((model) => (isJsonObject(model) && typeof model["id"] === "string" ? [model["id"]] : []));
  } catch {
    // The names are a courtesy: the failure itself is what must be told.
    return [];
  }
}

/** The closest first; when none is close, what the list begins with, so that the person sees its kind of names. */
function nearestNames(wanted: string, names: string[]): string[] {
  const left = new Set(names);
  const found: string[] = [];
  while (found.length < SHOWN) {
    const next = nearest(wanted, [...left]) ?? [...left].find((name) => name.includes(wanted));
    if (next === undefined) break;
    left.delete(next);
    found.push(next);
  }
  return found.length > 0 ? found : names.slice(0, SHOWN);
}
