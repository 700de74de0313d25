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
  /** Whether that was all of the outside; both ends are closed then, once the inside has it. Omitted, never. */
  isOver?: () => boolean;
  lingerMs: number;
  signal: AbortSignal;
};

/**
 * Moves bytes both ways until both ends are done, never reading more than the other end takes. A reset of one end
 * resets the other and is no rejection. Rejects with what `up` or `down` throw, or the signal says: then the outside is
 * gone, and the inside is left to the caller.
 */
export function join(joined: Joined): Promise<void> {
  const { inside, outside, signal, mayRead = () => true, isOver = () => false } = joined;
  return new Promise((resolve, reject) => {
    const undo: (() => void)[] = [];
    const listen = (to: Duplex, event: string, listener: (piece: Buffer) => void) => {
      to.on(event, listener);
      undo.push(() => to.off(event, listener));
    };
    const unlisten = () => {
      for (const one of undo.splice(0)) one();
    };
    const stop = (settle: () => void) => {
      unlisten();
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    const fail = (error: unknown) => {
      inside.pause();
      reset(outside, asRefusal(error));
      stop(() => reject(asRefusal(error)));
    };
    const onAbort = () => fail(signal.reason);
    /** Nothing else will be said to this end. It takes what was, however slowly, and is given up with the signal. */
    const part = (left: Duplex, { isGone }: { isGone: boolean }) => {
      unlisten();
      left.on("data", () => undefined).resume();
      left.end();
      const done = () => {
        linger(left, { ms: joined.lingerMs, reason: undefined });
        stop(resolve);
      };
      if (left.destroyed || (isGone && left.writableFinished)) return done();
      listen(left, "close", done);
      // What has gone out may wait on its way to a slow reader, whom a reset would cut; one that goes on writing is not.
      listen(left, "finish", isGone ? done : () => listen(left, "data", done));
    };

    const flow = (from: Duplex, to: Duplex, { take, isOpen }: { take: Joined["up"]; isOpen: () => boolean }) => {
      listen(from, "data", (piece: Buffer) => {
        try {
          take(piece);
        } catch (error) {
          return fail(error);
        }
        if (isOver()) {
          outside.destroy();
          return part(inside, { isGone: false });
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
        // What it had said to its end is still delivered: a server may answer and not read the rest.
        if (!isWhole && one.readableEnded && !other.destroyed) return part(other, { isGone: true });
        if (!isWhole && !other.destroyed) reset(other, wasReset(one));
        stop(resolve);
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

function wasReset({ errored }: Duplex): Error {
  return new Error(`the other end was reset${errored ? `: ${errored.message}` : ""}`);
}

/** Closes a stream whose last words are written: until it is, what still comes is thrown away, so that they can be read. */
export function linger(stream: Duplex, { ms, reason }: { ms: number; reason: Error | undefined }): void {
  if (stream.destroyed) return;
  stream.on("data", () => undefined).resume();
  if (!stream.writableEnded) stream.end();
  const timer = setTimeout(() => stream.destroy(reason), ms);
  stream.once("close", () => clearTimeout(timer));
}

/** A reset is passed on as one: a program must not take a cut answer for a whole one. */
export function reset(stream: Duplex, reason: Error | undefined): void {
  const isTcp = stream instanceof Socket && !(stream instanceof TLSSocket) && stream.remoteFamily !== undefined;
  if (isTcp) stream.resetAndDestroy();
  else stream.destroy(reason);
}
