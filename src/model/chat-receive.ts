import { isJsonObject } from "../core/json.ts";
import { type ChatAssembly, protocolFailure } from "./chat-assembly.ts";
import { chatChunk } from "./chat-chunk.ts";
import type { Endpoint } from "./failure.ts";
import { htmlFailure } from "./http-failure.ts";
import type { IdleWatch } from "./idle-watch.ts";
import { isHtml } from "./provider-message.ts";
import { SseDecoder, type SseEvent } from "./sse.ts";
import { streamError } from "./stream-error.ts";

/** 64 MiB: no model answers that much; a server that never ends must not fill the memory. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** After the model's last word only usage and `[DONE]` can come: some servers leave the connection open instead. */
const TRAILER_MS = 5_000;

type Reception = { endpoint: Endpoint; assembly: ChatAssembly; watch: IdleWatch; idleMs: number };

/**
 * Reads an answer of status 200 into the assembly. What it is – a stream of events, one JSON text, or a page – is judged
 * by its first character: gateways send any of the three with any content type.
 */
export async function receive(response: Response, reception: Reception): Promise<void> {
  const sse = new SseDecoder();
  let opening = "";
  for await (const text of textOf(response, reception)) {
    if (isEvents(opening)) {
      if (feed(sse.push(text), reception)) return;
      continue;
    }
    opening += text;
    if (isEvents(opening) && feed(sse.push(opening), reception)) return;
  }
  if (!isEvents(opening)) return receiveWhole(opening, reception);
  const last = sse.end();
  if (last && isWhole(last)) feed([last], reception);
}

async function* textOf(response: Response, { endpoint, assembly, watch, idleMs }: Reception): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let total = 0;
  for await (const bytes of response.body ?? []) {
    total += bytes.byteLength;
    if (total > MAX_ANSWER_BYTES) throw protocolFailure(endpoint, "sent an answer larger than 64 MiB");
    yield decoder.decode(bytes, { stream: true });
    watch.expect(assembly.ended ? Math.min(TRAILER_MS, idleMs) : idleMs);
  }
}

/** Whether text that begins like this is a stream of events: not a page, not one JSON value. */
function isEvents(opening: string): boolean {
  return /^\s*[^\s<{[]/.test(opening);
}

function feed(events: SseEvent[], reception: Reception): boolean {
  for (const { event, data } of events) {
    if (data.trim() === "[DONE]") {
      reception.assembly.done();
      return true;
    }
    if (data.trim() !== "") addChunk(parseData(data, reception.endpoint), event, reception, SERVER_FAULT);
  }
  return false;
}

/** An error that comes after the request was accepted and names no code is the server's, not the request's. */
const SERVER_FAULT = 500;
const REQUEST_FAULT = 400;

function addChunk(value: unknown, event: string, { endpoint, assembly }: Reception, silentStatus: number): void {
  const error = errorIn(value, event);
  if (error !== undefined) throw streamError(error, silentStatus, endpoint);
  const chunk = chatChunk.safeParse(value);
  if (!chunk.success) {
    const { path, message } = chunk.error.issues[0] ?? { path: [], message: "" };
    throw protocolFailure(endpoint, `sent a chunk that is not Chat Completions (${path.join(".")}: ${message})`);
  }
  assembly.add(chunk.data);
}

function errorIn(value: unknown, event: string): unknown {
  if (!isJsonObject(value)) return undefined;
  if (value["error"]) return value["error"];
  if (event === "error" || value["object"] === "error") return value;
  const choice = Array.isArray(value["choices"]) ? value["choices"][0] : undefined;
  return isJsonObject(choice) && choice["error"] ? choice["error"] : undefined;
}

function parseData(data: string, endpoint: Endpoint): unknown {
  try {
    return JSON.parse(data);
  } catch {
    // `data: error: engine died` is what some servers send when they give up (O-LLM-05).
    if (/^\s*(internal )?(server )?error\b/i.test(data)) throw streamError(data.trim(), SERVER_FAULT, endpoint);
    throw protocolFailure(endpoint, "sent an event that is not JSON", { type: "back_off" });
  }
}

function isWhole({ data }: SseEvent): boolean {
  if (data.trim() === "[DONE]") return true;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}

/** An answer in one piece: an error, or a server that does not stream. */
function receiveWhole(text: string, reception: Reception): void {
  if (text.trim() === "") return;
  if (isHtml(text)) throw htmlFailure(reception.endpoint);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw protocolFailure(reception.endpoint, "sent an answer that is neither events nor JSON");
  }
  if (!isJsonObject(value) || !("choices" in value || "error" in value)) {
    throw protocolFailure(reception.endpoint, "answered JSON without `choices`, not an OpenAI-style API");
  }
  addChunk(value, "", reception, REQUEST_FAULT);
}
