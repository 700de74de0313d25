import type { JsonObject } from "../core/json.ts";
import type { AssistantMessage, Message } from "../core/messages.ts";

/** A tool as a model is told of it; `parameters` is JSON Schema. */
type ToolOffer = { name: string; description: string; parameters: JsonObject };

export type ModelRequest = {
  system: string;
  messages: readonly Message[];
  /** In the order they are sent; the caller sorts them, so that the beginning of each request has the same bytes. */
  tools: readonly ToolOffer[];
  /** Tokens the answer may have; the provider's own limit when omitted. */
  maxOutput?: number;
};

export type ModelDelta = { type: "text" | "reasoning"; text: string };

export type RespondOptions = {
  signal: AbortSignal;
  /** Shown, never kept: when the attempt fails, all its deltas are void. */
  onDelta: (delta: ModelDelta) => void;
};

export type ModelClient = {
  readonly provider: string;
  /** The model's name, as the provider spells it. */
  readonly id: string;
  readonly api: "chat" | "scripted";
  /**
   * One attempt at one response. Rejects with a `ModelFailure`. On abort it resolves, with stop reason `aborted` and
   * what had arrived by then; calls whose arguments are not yet JSON are left out.
   */
  respond(request: ModelRequest, options: RespondOptions): Promise<AssistantMessage>;
};

/** The answer of a model that was aborted before it said anything. */
export function abortedMessage(model: string): AssistantMessage {
  return {
    content: [],
    stopReason: "aborted",
    usage: undefined,
    reportedUsd: undefined,
    responseId: undefined,
    model,
  };
}
