import type OpenAI from "openai";
import { APIConnectionError, APIConnectionTimeoutError } from "openai";
import type { AssistantMessage } from "../core/messages.ts";
import { AmbiguousFragment, type ExtraContent } from "./call-assembly.ts";
import { callIdsIn } from "./call-ids.ts";
import { ChatAssembly, protocolFailure } from "./chat-assembly.ts";
import { type ChatServer, HttpError, openaiClient } from "./chat-http.ts";
import { withModelNames } from "./chat-models.ts";
import { receive } from "./chat-receive.ts";
import { chatMessages } from "./chat-request.ts";
import { type Endpoint, ModelFailure } from "./failure.ts";
import { httpFailure } from "./http-failure.ts";
import { IdleWatch } from "./idle-watch.ts";
import type { ModelClient, ModelRequest, RespondOptions } from "./model-client.ts";
import { idleFailure, networkFailure } from "./network-failure.ts";

export type ChatOptions = ChatServer & {
  provider: string;
  model: string;
  /** Removes every known secret from a text. */
  mask: (text: string) => string;
  /** The longest silence, before the answer and within it; 300 s when omitted (Node's own limit as well). */
  idleMs?: number;
  /** Whether the model accepts images; when omitted true, until it refuses some. */
  sees?: boolean;
  /** `max_completion_tokens` of OpenAI's own API, which refuses the older `max_tokens` all others know. */
  outputLimitField?: "max_tokens" | "max_completion_tokens";
};

/** A model behind a Chat Completions API. */
export function createChatClient(options: ChatOptions): ModelClient {
  const idleMs = options.idleMs ?? 300_000;
  const { provider, model } = options;
  const mask = (text: string) => options.mask(text).replaceAll(maskable(options.key.reveal()), "***");
  const connection: Connection = {
    // The watch must win: it knows silence from a failed connection.
    openai: openaiClient(options, idleMs + 1_000),
    endpoint: { provider, model, url: options.baseUrl.replace(/\/+$/, ""), mask },
    answered: false,
    sees: options.sees ?? true,
    extras: new Map(),
    idleMs,
  };
  return {
    provider,
    id: model,
    api: "chat",
    respond: (request, respondOptions) => respond(connection, options, request, respondOptions),
  };
}

type Connection = {
  openai: OpenAI;
  endpoint: Endpoint;
  answered: boolean;
  /** False as soon as the provider has refused a request for its images. */
  sees: boolean;
  idleMs: number;
  /** Gemini refuses a call of its own that comes back without its signature; kept for as long as the process lives. */
  extras: Map<string, ExtraContent>;
};
type Body = OpenAI.ChatCompletionCreateParamsStreaming;

/**
 * A request that is refused while it holds images is sent once more without them: a model that sees none, or a provider
 * that takes no such picture, would refuse each later request of the session as well.
 */
async function respond(
  connection: Connection,
  options: ChatOptions,
  request: ModelRequest,
  respondOptions: RespondOptions,
): Promise<AssistantMessage> {
  try {
    return await attempt(connection, bodyOf(request, options, connection), request, respondOptions);
  } catch (thrown) {
    if (!connection.sees || !hasImages(request) || !mayBeForImages(thrown)) throw thrown;
    const blind = { ...connection, sees: false };
    const message = await attempt(blind, bodyOf(request, options, blind), request, respondOptions).catch(() => {
      throw thrown;
    });
    connection.sees = false;
    return message;
  }
}

function hasImages({ messages }: ModelRequest): boolean {
  return messages.some(({ role, content }) => role === "tool" && content.some(({ type }) => type === "image"));
}

function mayBeForImages(thrown: unknown): boolean {
  if (!(thrown instanceof ModelFailure) || thrown.overflow || thrown.retry.type !== "never") return false;
  return thrown.code === "MODEL_REJECTED" || (thrown.code === "MODEL_NOT_FOUND" && /\bimage/i.test(thrown.message));
}

async function attempt(
  connection: Connection,
  body: Body,
  { messages }: ModelRequest,
  { signal, onDelta }: RespondOptions,
): Promise<AssistantMessage> {
  const { openai, endpoint, idleMs, extras } = connection;
  const watch = new IdleWatch(signal, idleMs);
  const assembly = new ChatAssembly({ endpoint, takenIds: callIdsIn(messages), extras, onDelta });
  try {
    const response = await openai.chat.completions.create(body, { signal: watch.signal }).asResponse();
    connection.answered = true;
    await receive(response, { endpoint, assembly, watch, idleMs });
    return assembly.finish();
  } catch (thrown) {
    if (signal.aborted) return assembly.abort();
    // The model had finished: only the trailing usage was lost with the connection.
    if (assembly.ended && !(thrown instanceof ModelFailure)) return assembly.finish();
    const failure = watch.idle ? idleFailure(endpoint, idleMs) : failureOf(thrown, connection, assembly);
    failure.partial = assembly.partial;
    throw failure.code === "MODEL_NOT_FOUND" ? await withModelNames(failure, openai, endpoint, signal) : failure;
  } finally {
    watch.close();
  }
}

function failureOf(thrown: unknown, { endpoint, answered }: Connection, assembly: ChatAssembly): ModelFailure {
  if (thrown instanceof ModelFailure) return thrown;
  if (thrown instanceof AmbiguousFragment || thrown instanceof RangeError) {
    return protocolFailure(endpoint, `sent what cannot be read: ${thrown.message}`);
  }
  const cause = causeOf(thrown);
  if (cause instanceof HttpError) {
    return httpFailure({ status: cause.status, headers: cause.headers, body: cause.body }, endpoint);
  }
  return networkFailure(cause, { endpoint, answered, partialChars: assembly.partial.chars });
}

/** The SDK drops the cause of what it takes for a timeout of the connection. */
function causeOf(thrown: unknown): unknown {
  if (thrown instanceof APIConnectionTimeoutError) return Object.assign(new Error("timed out"), { code: "ETIMEDOUT" });
  return thrown instanceof APIConnectionError ? thrown.cause : thrown;
}

function bodyOf(request: ModelRequest, options: ChatOptions, { sees, extras }: Connection): Body {
  const tools = request.tools.map((offer) => ({ type: "function" as const, function: { ...offer } }));
  return {
    model: options.model,
    messages: chatMessages(request.system, request.messages, { sees, extras }),
    ...(tools.length > 0 && { tools }),
    ...(request.maxOutput !== undefined && { [options.outputLimitField ?? "max_tokens"]: request.maxOutput }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** A short key such as `none` is a word: masking it would garble every sentence that has it. */
function maskable(key: string): string | RegExp {
  return key.length >= 8 ? key : /(?!)/g;
}
