import type { Duplex } from "node:stream";
import { EgressRefusal } from "../refusal.ts";
import { Gathered } from "./gathered.ts";
import { asRefusal } from "./words.ts";

/** 128 KiB: a hello of 20 KiB in records of one byte each. */
const MAX_PEEKED_BYTES = 128 * 1024;

export type Peek<Answer> = {
  /** Given each piece once, in order. Undefined is not enough yet. @throws EgressRefusal */
  look: (piece: Buffer, all: Buffer) => Answer | undefined;
  /** How long the first byte may take; omitted, as long as it wants. */
  firstBytes?: { ms: number; late: () => EgressRefusal };
  /** How long the answer may take from the first byte on. */
  answerMs: number;
  signal: AbortSignal;
};

/**
 * Looks at the first bytes of `stream` and puts them back. Undefined when the stream ends without having said a word.
 * @throws EgressRefusal
 */
export function peek<Answer>(stream: Duplex, peeking: Peek<Answer>): Promise<Answer | undefined> {
  const { look, firstBytes, answerMs, signal } = peeking;
  return new Promise((resolve, reject) => {
    const seen = new Gathered();
    const refuse = (refusal: Error) => done(() => reject(refusal));
    let timer = firstBytes && setTimeout(() => refuse(firstBytes.late()), firstBytes.ms);

    const onData = (piece: Buffer) => {
      if (seen.length === 0) {
        clearTimeout(timer);
        timer = setTimeout(() => refuse(new EgressRefusal(SLOW)), answerMs);
      }
      seen.add(piece);
      try {
        const answer = look(piece, seen.bytes);
        if (answer !== undefined) return done(() => resolve(answer));
      } catch (error) {
        return refuse(asRefusal(error));
      }
      if (seen.length > MAX_PEEKED_BYTES) refuse(new EgressRefusal(LONG));
    };
    const onEnd = () => (seen.length > 0 ? refuse(new EgressRefusal(SHORT)) : done(() => resolve(undefined)));
    const onAbort = () => refuse(asRefusal(signal.reason));

    const done = (settle: () => void) => {
      clearTimeout(timer);
      stream.pause();
      stream.off("data", onData).off("end", onEnd).off("close", onEnd);
      signal.removeEventListener("abort", onAbort);
      if (seen.length > 0 && !stream.destroyed && !stream.readableEnded) stream.unshift(seen.bytes);
      settle();
    };

    if (signal.aborted) return onAbort();
    if (stream.destroyed || stream.readableEnded) return onEnd();
    signal.addEventListener("abort", onAbort);
    stream.on("data", onData).on("end", onEnd).on("close", onEnd).resume();
  });
}

const SLOW = "the first bytes of the connection came too slowly to say what they are";
const LONG = "the first bytes of the connection do not say what they are within 128 KiB";
const SHORT = "the connection ended before its first bytes said what they are";
