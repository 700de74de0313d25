import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { PassThrough, type Readable } from "node:stream";
import { type ToController, ToToolHost } from "../../src/protocol/messages.ts";
import { Peer } from "../../src/protocol/peer.ts";
import { CallNumbers } from "../../src/sandbox/call-numbers.ts";
import { ToolHostConnection } from "../../src/sandbox/tool-host-connection.ts";
import { Egress } from "../../src/toolhost/egress/egress.ts";
import type { Refusals } from "../../src/toolhost/egress/refusals.ts";
import type { Whose } from "../../src/toolhost/shell/whose.ts";
import { type OutletScript, ScriptedOutlet } from "./scripted-outlet.ts";

let lastBlock = 0;

/** A loopback address that no other test of this machine uses. */
export function freeAddress(): string {
  lastBlock++;
  return `127.${100 + (process.pid % 100)}.${(process.pid >> 3) % 250}.${lastBlock}`;
}

/** A port below those the kernel gives away, that no other test process of this machine is likely to look at. */
export function freePort(): number {
  return 20_000 + ((process.pid * 16 + lastPort++) % 12_000);
}

let lastPort = 0;

/** Call 1 runs, and nothing else lives. */
export const ONE_CALL: Whose = {
  running: () => 1,
  hasJobs: () => false,
  latest: () => undefined,
  callOf: () => undefined,
};

type Options = OutletScript & { whose?: Whose; refusals?: Refusals; forwardAt?: string[] };

/**
 * The inside of egress on this machine, at addresses and ports of its own, and the real controller's end of its channel
 * with a scripted outlet. Its call 1 is `call-1`.
 */
export class Inside implements AsyncDisposable {
  readonly outlet: ScriptedOutlet;
  readonly egress: Egress;
  readonly connection: ToolHostConnection;
  readonly dnsAddress = freeAddress();
  readonly numbers = new CallNumbers();
  readonly #sockets: Socket[] = [];

  private constructor({ whose = ONE_CALL, refusals, forwardAt = [freeAddress()], ...script }: Options) {
    this.outlet = new ScriptedOutlet(script);
    for (const [name, { ports }] of this.outlet.names) this.outlet.names.set(name, { address: freeAddress(), ports });
    this.numbers.next("call-1");
    const [toToolHost, toController] = [new PassThrough(), new PassThrough()];
    const streams = { input: toController, output: toToolHost, destroy: () => undefined };
    const host = { outlet: this.outlet, keep: () => Promise.reject(new Error("nothing is kept here")) };
    this.connection = new ToolHostConnection(streams, host, this.numbers);
    const peer = new Peer<ToToolHost, ToController>({
      input: toToolHost,
      output: toController,
      incoming: ToToolHost,
      parity: "even",
      onMessage: (message) => message.type === "named" && this.egress.named(message),
      onClose: () => undefined,
    });
    this.egress = new Egress({
      settings: { forwards: [...this.outlet.forwards] },
      peer,
      whose,
      places: { dns: [{ address: this.dnsAddress, port: 0 }], forwards: forwardAt },
      ...(refusals && { refusals }),
    });
  }

  static async open(options: Options = {}): Promise<Inside> {
    const inside = new Inside(options);
    await inside.egress.settled;
    return inside;
  }

  /** As servers of a resolver of Node are named. */
  get dns(): string {
    return `${this.dnsAddress}:${this.egress.dnsPort}`;
  }

  /** A program's connection, half-open if it wants to. */
  async dial(host: string, port: number): Promise<Socket> {
    const socket = this.dialing(host, port);
    await once(socket, "connect");
    return socket;
  }

  /** The same while nobody knows yet whether it is reset at once. */
  dialing(host: string, port: number): Socket {
    const socket = connect({ host, port, allowHalfOpen: true });
    this.#sockets.push(socket);
    return socket;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.egress.close();
    this.connection.destroy();
    await this.connection.closed;
  }
}

/** All that comes until the end, which leaves the stream open the other way; rejects when it is reset. */
export async function readAll(stream: Readable): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream.iterator({ destroyOnReturn: false })) parts.push(part);
  return Buffer.concat(parts).toString("latin1");
}
