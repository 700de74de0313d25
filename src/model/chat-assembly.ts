import type { AssistantMessage, AssistantPart, StopReason } from "../core/messages.ts";
import { clip, wellFormed } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import { CallAssembly, type ExtraContent, type OpenCall } from "./call-assembly.ts";
import { uniqueId } from "./call-ids.ts";
import { type ChatChunk, type ChatDelta, deltaText } from "./chat-chunk.ts";
import { stopReasonOf } from "./chat-stop.ts";
import { mergeUsage, type Reported } from "./chat-usage.ts";
import { type Endpoint, ModelFailure } from "./failure.ts";
import type { ModelDelta } from "./model-client.ts";
import { brokenOff } from "./network-failure.ts";

type Piece = Extract<AssistantPart, { type: "text" | "reasoning" }> | { type: "call"; call: OpenCall };

type AssemblyOptions = {
  endpoint: Endpoint;
  /** Ids of earlier calls of the conversation: no new call gets one of them (O-LLM-10). */
  takenIds: Set<string>;
  /** Gets the opaque fields of each call by its id. */
  extras: Map<string, ExtraContent>;
  onDelta: (delta: ModelDelta) => void;
};

/** One answer while it arrives, chunk by chunk. Nothing of it may be executed before {@link ChatAssembly.finish}. */
export class ChatAssembly {
  readonly #options: AssemblyOptions;
  readonly #calls = new CallAssembly();
  readonly #pieces: Piece[] = [];
  #finishReason: string | undefined;
  #done = false;
  #refused = false;
  #reported: Reported = { usage: undefined, usd: undefined };
  #responseId: string | undefined;
  #model: string | undefined;

  constructor(options: AssemblyOptions) {
    this.#options = options;
  }

  add(chunk: ChatChunk): void {
    this.#responseId ??= chunk.id || undefined;
    this.#model ??= chunk.model || undefined;
    if (chunk.usage) this.#reported = mergeUsage(this.#reported, chunk.usage);
    for (const choice of chunk.choices ?? []) {
      if ((choice.index ?? 0) !== 0) continue;
      if (choice.usage) this.#reported = mergeUsage(this.#reported, choice.usage);
      this.#addDelta(choice.delta ?? choice.message);
      this.#finishReason = choice.finish_reason || this.#finishReason;
    }
  }

  /** The server said `[DONE]`. */
  done(): void {
    this.#done = true;
  }

  /** The model has said how its answer ended: only usage can still come. */
  get ended(): boolean {
    return this.#finishReason !== undefined;
  }

  /** What a failed attempt leaves behind for the log. */
  get partial(): ModelFailure["partial"] {
    const chars = this.#pieces.reduce((sum, piece) => sum + sizeOf(piece), 0);
    return { chars, usage: this.#reported.usage };
  }

  /** The whole answer. Throws `MODEL_UNREACHABLE` when its end never came, `MODEL_PROTOCOL` when it makes no sense. */
  finish(): AssistantMessage {
    const stopReason = this.#stopReason();
    if (this.#calls.calls.some((call) => call.name === "")) {
      throw protocolFailure(this.#options.endpoint, "sent a tool call without a name");
    }
    return this.#message(this.#parts(), stopReason);
  }

  /** What had arrived when the person ended it; a call that is not complete is dropped. */
  abort(): AssistantMessage {
    const parts = this.#parts().filter((part) => part.type !== "tool_call" || isUsable(part.name, part.arguments));
    return this.#message(parts, "aborted");
  }

  #addDelta(delta: ChatDelta | null | undefined): void {
    if (!delta) return;
    if (delta.reasoning_content) this.#addText("reasoning", delta.reasoning_content, "reasoning_content");
    else if (delta.reasoning) this.#addText("reasoning", delta.reasoning, "reasoning");
    this.#addText("text", deltaText(delta.content));
    if (delta.refusal) {
      this.#refused = true;
      this.#addText("text", delta.refusal);
    }
    for (const call of this.#calls.add(delta.tool_calls ?? [])) this.#pieces.push({ type: "call", call });
  }

  #addText(type: ModelDelta["type"], text: string, field = ""): void {
    if (text === "") return;
    const last = this.#pieces.at(-1);
    if (last?.type === "text" && type === "text") last.text += text;
    else if (last?.type === "reasoning" && type === "reasoning" && last.field === field) last.text += text;
    else this.#pieces.push(type === "text" ? { type, text } : { type, text, field });
    this.#options.onDelta({ type, text });
  }

  #stopReason(): StopReason {
    const hasCalls = this.#calls.calls.length > 0;
    const natural = hasCalls ? "tool_use" : "stop";
    const { endpoint } = this.#options;
    if (this.#finishReason === undefined) {
      // Some local servers never send a finish_reason, but they do say [DONE] (O-LLM-04 c).
      if (this.#done && this.#pieces.length > 0) return this.#refused ? "refusal" : natural;
      throw brokenOff(endpoint, this.partial.chars, this.#done ? "an empty answer" : "no end of the answer came");
    }
    const reason = stopReasonOf(this.#finishReason);
    const named = clip(visibleLine(this.#finishReason), 100);
    if (reason === undefined) throw protocolFailure(endpoint, `ended with the unknown finish_reason \`${named}\``);
    if (reason === "broken") throw brokenOff(endpoint, this.partial.chars, `finish_reason \`${named}\``);
    if (this.#refused) return "refusal";
    // Several gateways say `stop` although there are calls, or `tool_calls` although there are none.
    return reason === "stop" || reason === "tool_use" ? natural : reason;
  }

  #parts(): AssistantPart[] {
    const taken = new Set(this.#options.takenIds);
    return this.#pieces.map((piece) => {
      if (piece.type !== "call") return { ...piece, text: wellFormed(piece.text) };
      const { name, arguments: text, extra } = piece.call;
      const id = uniqueId(piece.call.id, taken);
      if (extra) this.#options.extras.set(id, extra);
      return {
        type: "tool_call",
        id,
        name: wellFormed(name),
        arguments: wellFormed(text),
      };
    });
  }

  #message(content: AssistantPart[], stopReason: StopReason): AssistantMessage {
    return {
      content,
      stopReason,
      usage: this.#reported.usage,
      reportedUsd: this.#reported.usd,
      responseId: this.#responseId,
      model: this.#model ?? this.#options.endpoint.model,
    };
  }
}

/** An answer that breaks the protocol; asking again may help when `retry` says so. */
export function protocolFailure(endpoint: Endpoint, what: string, retry: ModelFailure["retry"] = { type: "never" }) {
  return new ModelFailure("MODEL_PROTOCOL", `\`${endpoint.provider}\` ${what}`, { retry });
}

function isUsable(name: string, text: string): boolean {
  try {
    JSON.parse(text);
    return name !== "";
  } catch {
    return false;
  }
}

function sizeOf(piece: Piece): number {
  return piece.type === "call" ? piece.call.arguments.length : piece.text.length;
}
