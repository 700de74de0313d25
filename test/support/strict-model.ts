import type { Message } from "../../src/core/messages.ts";
import { toolCallsOf } from "../../src/core/messages.ts";
import type { ModelClient } from "../../src/model/model-client.ts";

/** A model that takes a conversation as strict providers do: each call is answered once, at once and in its order. */
export function strict(model: ModelClient): ModelClient {
  return {
    ...model,
    respond: (request, options) => {
      requireAnswers(request.messages);
      return model.respond(request, options);
    },
  };
}

function requireAnswers(messages: readonly Message[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (open.shift() !== message.callId) throw new Error(`An answer to \`${message.callId}\` is out of place`);
      continue;
    }
    if (open.length > 0) throw new Error(`Calls without an answer: ${open.join(", ")}`);
    open = message.role === "assistant" ? toolCallsOf(message.content).map(({ id }) => id) : [];
  }
}
