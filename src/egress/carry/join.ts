import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { asRefusal } from "./words.ts";

export type Joined = {
  inside: Duplex;
  outside: Duplex;
  /** Given each piece in order; what may pass it writes on. @throws EgressRefusal */
  up: (piece: Buffer) => void;
  down: (piece: Buffer) => void;
  /** Whether the inside may be read now; who says no resumes it. Omitted, always. */
  mayRead?: () => boolean;
  lingerMs: number;
  signal: AbortSignal;
};

/**
 * Moves bytes both ways until both ends are done, never reading more than the other end takes. A reset of one end
 * resets the other and is no rejection. Rejects with what `up` or `down` throw, or the signal says: then the outside is
 * gone, and the inside is left to the caller.
 */
export function join(joined: Joined): Promise<void> {
  const { inside, outside, signal, mayRead = () => true } = joined;
  return new Promise((resolve, reject) => {
    const undo: (() => void)[] = [];
    const listen = (to: Duplex, event: string, listener: (piece: Buffer) => void) => {
      to.on(event, listener);
      undo.push(() => to.off(event, listener));
    };
    const stop = (settle: () => void) => {
      for (const one of undo.splice(0)) one();
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    const fail = (error: unknown) => {
      inside.pause();
      reset(outside, asRefusal(error));
      stop(() => reject(asRefusal(error)));
    };
    const onAbort = () => fail(signal.reason);

    const flow = (from: Duplex, to: Duplex, { take, isOpen }: { take: Joined["up"]; isOpen: () => boolean }) => {
      listen(from, "data", (piece: Buffer) => {
        try {
          take(piece);
        } catch (error) {
          return fail(error);
        }
        if (to.writableNeedDrain || !isOpen()) from.pause();
      });
      listen(to, "drain", () => isOpen() && from.resume());
      listen(from, "end", () => to.end());
    };
    const watch = (one: Duplex, other: Duplex) => {
      // An error is always followed by `close`; nobody else need hear of it.
      one.on("error", () => undefined);
      listen(one, "close", () => {
        const isWhole = one.readableEnded && one.writableFinished;
        if (isWhole && !other.closed) return;
        stop(resolve);
        if (!isWhole) settleAlone(other, { after: one, lingerMs: joined.lingerMs });
      });
    };

    watch(inside, outside);
    watch(outside, inside);
    if (signal.aborted) return onAbort();
    if (inside.destroyed) {
      reset(outside, inside.errored ?? undefined);
      return stop(resolve);
    }
    signal.addEventListener("abort", onAbort);
    flow(inside, outside, { take: joined.up, isOpen: mayRead });
    flow(outside, inside, { take: joined.down, isOpen: () => true });
    if (mayRead()) inside.resume();
    outside.resume();
  });
}

/** `after` went away. What it had said to its end is still delivered: a server may answer and not read the rest. */
function settleAlone(left: Duplex, { after, lingerMs }: { after: Duplex; lingerMs: number }): void {
  if (left.destroyed) return;
  if (after.readableEnded) return linger(left, { ms: lingerMs, reason: undefined });
  reset(left, new Error(`the other end was reset${after.errored ? `: ${after.errored.message}` : ""}`));
}

/** Closes a stream whose last words are written: what still comes is thrown away, so that they can be read. */
export function linger(stream: Duplex, { ms, reason }: { ms: number; reason: Error | undefined }): void {
  stream.on("data", () => undefined).resume();
  if (!stream.writableEnded) stream.end();
  const finish = () => {
    const timer = setTimeout(() => stream.destroy(reason), ms);
    stream.once("close", () => clearTimeout(timer));
  };
  if (stream.writableFinished) finish();
  else stream.once("finish", finish);
}

/** A reset is passed on as one: a program must not take a cut answer for a whole one. */
export function reset(stream: Duplex, reason: Error | undefined): void {
  const isTcp = stream instanceof Socket && !(stream instanceof TLSSocket) && stream.remoteFamily !== undefined;
  if (isTcp) stream.resetAndDestroy();
  else stream.destroy(reason);
}
