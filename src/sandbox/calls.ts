import { StringDecoder } from "node:string_decoder";
import { type GloveboxError, messageOf } from "../core/errors.ts";
import type { RefusedInside } from "../core/outlet.ts";
import type { Outcome, ToController, ToToolHost } from "../protocol/messages.ts";
import type { Peer } from "../protocol/peer.ts";
import type { CallNumbers } from "./call-numbers.ts";
import { lost } from "./lost.ts";
import type { Within } from "./questions.ts";
import type { CallOptions, SandboxCall } from "./sandbox.ts";

/** What a cancelled call is given before it counts as lost: the kill inside takes 0.3 s. */
const CANCEL_WITHIN_MS = 5_000;

/** What became of a call, and what was refused inside meanwhile. */
export type CallAnswer = { outcome: Outcome; refused: RefusedInside };

const NOTHING_REFUSED: RefusedInside = { unreachable: 0, otherQuestions: 0, taken: [], heldPorts: [] };

type Waiting = {
  resolve: (answer: CallAnswer) => void;
  reject: (error: GloveboxError) => void;
  onOutput: (text: string) => void;
};

export type CallsParts = {
  peer: Pick<Peer<ToController, ToToolHost>, "accept" | "send" | "standBack">;
  numbers: CallNumbers;
  within: Within;
};

/** The calls of one tool host that wait for their answers. */
export class Calls {
  readonly #parts: CallsParts;
  readonly #waiting = new Map<number, Waiting>();

  constructor(parts: CallsParts) {
    this.#parts = parts;
  }

  /** Rejects with the cause when the channel ends first or the deadline passes; the call may have had effects then. */
  async run(call: SandboxCall, { signal, onOutput }: CallOptions): Promise<CallAnswer> {
    const { tool, args, deadlineMs, callId, readsOnly } = call;
    const { peer, numbers, within } = this.#parts;
    const id = numbers.next(callId);
    const answer = new Promise<CallAnswer>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, onOutput });
    });
    const cancel = (): void => this.#cancel(id);
    const goOn = readsOnly ? peer.standBack() : undefined;
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const problem = this.#trySend({ type: "call", id, tool, args });
      if (problem) return { outcome: problem, refused: NOTHING_REFUSED };
      if (signal.aborted) cancel();
      return await within(answer, deadlineMs, "The tool host did not answer a call in time");
    } finally {
      goOn?.();
      signal.removeEventListener("abort", cancel);
      this.#waiting.delete(id);
    }
  }

  settle(result: Extract<ToController, { type: "result" }>): void {
    this.#waiting.get(result.id)?.resolve(answerOf(result));
  }

  /** Rejects those that wait, or of them those whose number `isMeant`. */
  reject(error: GloveboxError, isMeant: (id: number) => boolean = () => true): void {
    for (const [id, waiting] of this.#waiting) if (isMeant(id)) waiting.reject(error);
  }

  show({ id, stream }: Extract<ToController, { type: "output" }>): void {
    const decoder = new StringDecoder("utf8");
    const accepted = this.#parts.peer.accept(stream);
    if (!this.#waiting.has(id)) return void accepted.destroy();
    accepted.on("data", (bytes: Buffer) => this.#waiting.get(id)?.onOutput(decoder.write(bytes)));
    accepted.on("end", () => accepted.end());
  }

  /** Arguments that are too large never leave; nothing is lost by that, and the model can mend it. */
  #trySend(call: ToToolHost): Outcome | undefined {
    try {
      this.#parts.peer.send(call);
      return undefined;
    } catch (error) {
      const text = `Not run: ${messageOf(error)}. Send less at once.`;
      return { status: "invalid", content: [{ type: "text", text }], details: {} };
    }
  }

  #cancel(id: number): void {
    this.#parts.peer.send({ type: "cancel", id });
    const timer = setTimeout(() => {
      this.#waiting.get(id)?.reject(lost("A cancelled call did not end"));
    }, CANCEL_WITHIN_MS);
    timer.unref();
  }
}

function answerOf({ outcome, refused }: Extract<ToController, { type: "result" }>): CallAnswer {
  if (!refused) return { outcome, refused: NOTHING_REFUSED };
  const { unreachable, other_questions: otherQuestions, taken, held_ports: heldPorts } = refused;
  return { outcome, refused: { unreachable, otherQuestions, taken, heldPorts } };
}
