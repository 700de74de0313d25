import type { AssistantMessage } from "../../src/core/messages.ts";
import { Secret } from "../../src/core/secrets.ts";
import { type ChatOptions, createChatClient } from "../../src/model/chat.ts";
import { ModelFailure } from "../../src/model/failure.ts";
import type { ModelClient, ModelDelta, ModelRequest } from "../../src/model/model-client.ts";
import type { ChatServer } from "./chat-server.ts";

export const KEY = "sk-test-0123456789abcdef";

export function clientOf(server: ChatServer, options: Partial<ChatOptions> = {}): ModelClient {
  return createChatClient({
    provider: "test",
    model: "m",
    baseUrl: server.url,
    key: new Secret(KEY),
    mask: (text) => text,
    ...options,
  });
}

export const HELLO: ModelRequest = { system: "be brief", messages: [{ role: "user", content: "hello" }], tools: [] };

export type Heard = { message: AssistantMessage; deltas: ModelDelta[] };

/** One attempt, with all deltas. */
export async function hear(
  client: ModelClient,
  request = HELLO,
  signal = new AbortController().signal,
): Promise<Heard> {
  const deltas: ModelDelta[] = [];
  const message = await client.respond(request, { signal, onDelta: (delta) => deltas.push(delta) });
  return { message, deltas };
}

/** The failure of one attempt. */
export async function fail(client: ModelClient, request = HELLO): Promise<ModelFailure> {
  try {
    const { message } = await hear(client, request);
    throw new Error(`expected a failure, got ${JSON.stringify(message)}`);
  } catch (thrown) {
    if (thrown instanceof ModelFailure) return thrown;
    throw thrown;
  }
}

/** The part of a failure that decides what happens next. */
export function essence({ code, message, retry }: ModelFailure) {
  return { code, message, retry: retry.type };
}
