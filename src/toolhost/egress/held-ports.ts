import type { Place } from "./listeners.ts";
import { ANY_ADDRESS, listSockets, type SocketEntry } from "./socket-table.ts";

/** How programs say EADDRINUSE: libc's words, Node's code, Go's, and those of servers that say it themselves. */
const IN_USE = /EADDRINUSE|address (?:is )?already in use|\bport \d+ is (?:already )?in use\b/i;

/**
 * Ports of ours that a command of this text and output could not listen at. The kernel tells nobody which process failed
 * to bind, so: the output says that an address was in use; of our ports those count that the command or its output
 * names, or, when it names none and nobody but us listens anywhere, all of them. A port that a process of the session
 * listens at as well is its own affair.
 */
export function heldPorts(held: readonly Place[], command: string, output: string): number[] {
  if (held.length === 0 || !IN_USE.test(output)) return [];
  const others = othersThatListen(held, listSockets("tcp"));
  const ours = [...new Set(held.map(({ port }) => port))].filter((port) => !others.includes(port));
  const numbers = numbersIn(`${command}\n${output}`);
  const named = ours.filter((port) => numbers.has(port));
  if (named.length > 0) return named;
  return others.length === 0 ? ours : [];
}

/** Whatever could be a port: no part of an address or a version, no line of a source, no number of an error. */
function numbersIn(text: string): Set<number> {
  const bare = text.replace(/\b(?:line|errno) \d+|:\d+:\d+/gi, "");
  return new Set(bare.match(/(?<![\d.])\d+(?![\d.]\d|\d)/g)?.map(Number));
}

/** Ports at which somebody else than us listens. */
export function othersThatListen(held: readonly Place[], sockets: readonly SocketEntry[]): number[] {
  const own = new Set(held.map(({ address, port }) => `${address} ${port}`));
  return sockets
    .filter(({ listens, address, port }) => listens && !own.has(`${address} ${port}`))
    .map(({ port }) => port);
}

/** The inode of the socket that keeps us from listening there. */
export function inodeInTheWay({ address, port }: Place): string | undefined {
  const there = listSockets("tcp").filter((socket) => socket.listens && socket.port === port);
  return there.find((socket) => socket.address === address || ANY_ADDRESS.includes(socket.address))?.inode;
}
