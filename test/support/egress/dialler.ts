import { once } from "node:events";
import { connect } from "node:net";
import type { Duplex } from "node:stream";

/** `time` counts from 0 how often the name was asked for. */
export type Names = (time: number) => readonly string[] | Promise<readonly string[]>;

/** Where a public address of the test's world is in truth. */
export type Route = { host: string; port: number };

/**
 * Resolves the names of the test's world, dials its addresses, and notes both: the oracle for what has left. An address
 * without a route refuses connections, and a name without addresses does not exist.
 */
export class TestDialler {
  readonly resolved: string[] = [];
  readonly dialled: string[] = [];
  readonly names = new Map<string, Names>();
  /** By `address:port`. */
  readonly routes = new Map<string, Route>();

  readonly resolve = async (name: string, signal: AbortSignal): Promise<readonly string[]> => {
    const time = this.resolved.filter((one) => one === name).length;
    this.resolved.push(name);
    const names = this.names.get(name);
    if (!names) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" });
    const aborted = once(signal, "abort", { signal: AbortSignal.timeout(600_000) });
    return Promise.race([names(time), aborted.then(() => Promise.reject(signal.reason as Error))]);
  };

  readonly connect = async (to: { address: string; port: number }, signal: AbortSignal): Promise<Duplex> => {
    const key = `${to.address}:${to.port}`;
    this.dialled.push(key);
    const route = this.routes.get(key);
    if (!route) throw Object.assign(new Error(`connect ECONNREFUSED ${key}`), { code: "ECONNREFUSED" });
    const socket = connect({ ...route, allowHalfOpen: true, noDelay: true });
    const stop = (): void => void socket.destroy();
    signal.addEventListener("abort", stop, { once: true });
    try {
      await once(socket, "connect");
    } finally {
      signal.removeEventListener("abort", stop);
    }
    return socket;
  };

  /** Forgets what was noted, and gives what it was. */
  take(): { resolved: string[]; dialled: string[] } {
    return { resolved: this.resolved.splice(0), dialled: this.dialled.splice(0) };
  }
}
