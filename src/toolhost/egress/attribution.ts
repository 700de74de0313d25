import type { Whose } from "../shell/whose.ts";
import { holderOf, listSockets, type Protocol } from "./socket-table.ts";

/** Which call a question or connection is of, as the protocol says it. */
export type By = { call: number | null; assumed: boolean };

/** The other end of a socket of ours. */
export type Client = { protocol: Protocol; address: string; port: number; ourPort: number };

/** Looking for processes may take this share of a processor, and so much at once; one look takes a few ms. */
const SHARE = 0.1;
const BURST_MS = 250;

/** Tells which call a process works for that asks or connects. */
export class Attribution {
  readonly #whose: Whose;
  #allowanceMs = BURST_MS;
  #countedAt = performance.now();

  constructor(whose: Whose) {
    this.#whose = whose;
  }

  /** Looks the process up only while it could be another's than the running call's. */
  of(client: Client): By {
    const running = this.#whose.running();
    if (!this.#whose.hasJobs()) return { call: running ?? null, assumed: false };
    const found = this.#within(() => this.#find(client));
    if (found !== undefined) return { call: found, assumed: false };
    const call = running ?? this.#whose.latest() ?? null;
    return { call, assumed: call !== null };
  }

  /** A flood of connections must not be made worse by our looking at each. */
  #within(find: () => number | undefined): number | undefined {
    const now = performance.now();
    this.#allowanceMs = Math.min(BURST_MS, this.#allowanceMs + (now - this.#countedAt) * SHARE);
    this.#countedAt = now;
    if (this.#allowanceMs <= 0) return undefined;
    // Time that others had the processor for is not counted, or a busy machine would have us guess.
    const before = process.cpuUsage();
    const found = find();
    const { user, system } = process.cpuUsage(before);
    this.#allowanceMs -= (user + system) / 1000;
    return found;
  }

  #find(client: Client): number | undefined {
    const inode = inodeOf(client);
    return inode === undefined ? undefined : this.#whose.callOf(holderOf(inode));
  }
}

/** A program's socket for UDP may be bound to no address and connected to none. */
function inodeOf({ protocol, address, port, ourPort }: Client): string | undefined {
  const mine = listSockets(protocol).filter((socket) => socket.port === port && !socket.listens);
  const exact = mine.find((socket) => socket.address === address && socket.remotePort === ourPort);
  return (exact ?? (protocol === "udp" ? mine[0] : undefined))?.inode;
}
