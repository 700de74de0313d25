import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { Listening } from "./listening.ts";

/** Listens on every address of this machine, TCP and UDP on one port, and counts who comes. */
export class Honeypot implements AsyncDisposable {
  readonly port: number;
  readonly #tcp: Listening;
  readonly #udp: Socket;
  packets = 0;

  private constructor(tcp: Listening, udp: Socket) {
    this.#tcp = tcp;
    this.#udp = udp;
    this.port = tcp.port;
    udp.on("message", () => this.packets++);
  }

  static async start(): Promise<Honeypot> {
    const tcp = await Listening.start(
      createServer((socket) => socket.on("error", () => undefined).end("honey\n")),
      { host: "::" },
    );
    const udp = createSocket("udp6");
    udp.bind(tcp.port, "::");
    await once(udp, "listening");
    return new Honeypot(tcp, udp);
  }

  get connections(): number {
    return this.#tcp.connections;
  }

  /** What this machine is called by others: each address but its loopback ones. */
  get addresses(): string[] {
    const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    return all.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tcp[Symbol.asyncDispose]();
    await new Promise<void>((resolve) => this.#udp.close(() => resolve()));
  }
}
