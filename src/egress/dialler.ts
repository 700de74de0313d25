import { lookup } from "node:dns/promises";
import { createConnection } from "node:net";
import type { Duplex } from "node:stream";
import { Lookups } from "./dial/lookups.ts";

/** The host's own name service and sockets: nothing else of the gate touches either. */
export type Dialler = {
  /** Every address of a name, in the order of preference. Rejects for a name without one. */
  resolve: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** A connection that is established. Aborted before, it is destroyed and rejects; aborting later changes nothing. */
  connect: (to: Endpoint, signal: AbortSignal) => Promise<Duplex>;
};

/** `address` is one, never a name. */
export type Endpoint = { address: string; port: number };

/** One for all, as the threads are. */
const LOOKUPS = new Lookups(async (name) =>
  (await lookup(name, { all: true, order: "verbatim" })).map(({ address }) => address),
);

/** The resolver and the sockets of this machine, its `/etc/hosts` included. */
export function systemDialler(): Dialler {
  return {
    resolve: (name, signal) => LOOKUPS.resolve(name, signal),
    connect,
  };
}

function connect({ address, port }: Endpoint, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // Half-open: the end of one direction is passed on as just that.
    const socket = createConnection({ host: address, port, noDelay: true, allowHalfOpen: true });
    const abort = (): void =>
      void socket.destroy(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    signal.addEventListener("abort", abort, { once: true });
    socket.once("error", reject);
    socket.once("close", () => signal.removeEventListener("abort", abort));
    socket.once("connect", () => {
      signal.removeEventListener("abort", abort);
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
