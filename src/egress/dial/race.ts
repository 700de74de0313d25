import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { Dialler, Endpoint } from "../dialler.ts";
import { untilAborted } from "./until-aborted.ts";

/** RFC 8305, section 5: the recommended delay between attempts. */
const STAGGER_MS = 250;
/** A name with more addresses than this has its first ones tried. */
const MOST_CANDIDATES = 8;

/** The addresses in the order they are tried: families take turns, beginning with that of the first. */
export function inTurns(addresses: readonly string[]): string[] {
  const isFirstFamily = (address: string): boolean => address.includes(":") === addresses[0]?.includes(":");
  const first = addresses.filter(isFirstFamily);
  const second = addresses.filter((address) => !isFirstFamily(address));
  const turns = addresses.flatMap((_, index) => [...first.slice(index, index + 1), ...second.slice(index, index + 1)]);
  return turns.slice(0, MOST_CANDIDATES);
}

/**
 * The first connection that is established; the next address is tried when one fails, or has said nothing for 250 ms.
 * What connects too late is destroyed. Rejects with the first failure when all fail, or with the signal's reason.
 */
export async function dialFirst(
  connect: Dialler["connect"],
  candidates: readonly Endpoint[],
  signal: AbortSignal,
): Promise<Duplex> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const attempts: Promise<Duplex>[] = [];
  let winner: Duplex | undefined;
  const attempt = async (to: Endpoint): Promise<Duplex> => {
    const connection = await connect(to, either);
    // Whoever takes it over hears of errors by its own listener.
    connection.on("error", () => undefined);
    if (!winner && !either.aborted) winner = connection;
    if (winner !== connection) connection.destroy();
    return connection;
  };
  try {
    for (const candidate of candidates) {
      const latest = attempt(candidate);
      attempts.push(latest);
      const isOver = Promise.any(attempts).then(() => true, NEVER);
      const hasFailed = latest.then(NEVER, () => false);
      if (await Promise.race([isOver, hasFailed, pause(STAGGER_MS, false, { signal: either })])) break;
    }
    return await untilAborted(Promise.any(attempts), either);
  } catch (error) {
    winner?.destroy();
    signal.throwIfAborted();
    throw error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  } finally {
    over.abort();
  }
}

/** Leaves a race to the others in it. */
const NEVER = () => new Promise<never>(() => undefined);
