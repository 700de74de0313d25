import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, isIPv6, type Server, type Socket } from "node:net";
import { systemCode } from "../../core/errors.ts";
import type { Client } from "./attribution.ts";
import type { Place, Problem } from "./listeners.ts";

const MAX_TCP = 32;
/** A connection for questions lasts no longer, whatever it does. */
const MAX_TCP_MS = 30_000;

type Reply = (packet: Buffer, client: Client) => Promise<Buffer | undefined>;

/** Answers DNS at one place, over UDP and TCP (RFC 7766). What could not be bound can be tried again. */
export class DnsServer {
  readonly #place: Place;
  readonly #reply: Reply;
  #udp: UdpSocket | undefined;
  #tcp: Server | undefined;
  #connections = 0;

  constructor(place: Place, reply: Reply) {
    this.#place = place;
    this.#reply = reply;
  }

  /** Binds what is not bound yet. Never rejects. */
  async open(): Promise<Problem[]> {
    const udp = this.#udp ? undefined : await this.#openUdp().then(noProblem, (error) => this.#problem(error));
    const tcp = this.#tcp ? undefined : await this.#openTcp().then(noProblem, (error) => this.#problem(error));
    return [udp, tcp].flatMap((problem) => problem ?? []);
  }

  /** Where it answers, once it does: with the port it has where it was told to take any. */
  get held(): Place[] {
    return this.#tcp ? [{ ...this.#place, port: this.#port }] : [];
  }

  get #port(): number {
    return this.#udp?.address().port ?? this.#place.port;
  }

  close(): void {
    this.#udp?.close();
    this.#tcp?.close();
  }

  async #openUdp(): Promise<void> {
    const { address, port } = this.#place;
    const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
    try {
      socket.bind({ address, port, exclusive: true });
      await once(socket, "listening");
    } catch (error) {
      socket.close();
      throw error;
    }
    this.#udp = socket;
    // A program that is gone before its reply makes the next send fail.
    socket.on("error", () => undefined);
    socket.on("message", (packet, { address: from, port: fromPort }) => {
      const client = { protocol: "udp" as const, address: from, port: fromPort, ourPort: this.#port };
      void this.#reply(packet, client).then((reply) => reply && socket.send(reply, fromPort, from, () => undefined));
    });
  }

  async #openTcp(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (socket) => void this.#serve(socket));
    server.listen({ host: this.#place.address, port: this.#port });
    await once(server, "listening");
    server.on("error", () => undefined);
    this.#tcp = server;
  }

  /** One question after the other, so that one connection never has more than one waiting. */
  async #serve(socket: Socket): Promise<void> {
    socket.on("error", () => undefined);
    if (this.#connections >= MAX_TCP) return void socket.resetAndDestroy();
    this.#connections++;
    const deadline = setTimeout(() => socket.destroy(), MAX_TCP_MS);
    const gone = new AbortController();
    socket.once("close", () => gone.abort());
    const client: Client = {
      protocol: "tcp",
      address: socket.remoteAddress ?? "",
      port: socket.remotePort ?? 0,
      ourPort: this.#port,
    };
    try {
      for await (const packet of packets(socket)) {
        const reply = await this.#reply(packet, client);
        if (reply === undefined) break;
        if (!socket.write(withLength(reply))) await once(socket, "drain", { signal: gone.signal });
      }
    } catch {
      // Whoever asked has gone, or was too slow.
    } finally {
      clearTimeout(deadline);
      socket.destroySoon();
      this.#connections--;
    }
  }

  #problem(error: unknown): Problem {
    const words = error instanceof Error ? error.message : String(error);
    return { place: this.#place, isTaken: systemCode(error) === "EADDRINUSE", words };
  }
}

function noProblem(): undefined {
  return undefined;
}

/** Each message has its length before it, in two bytes. */
async function* packets(socket: Socket): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  // The last reply may still be on its way when the questions have ended.
  const chunks: AsyncIterable<Buffer> = socket.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk]);
    for (;;) {
      if (held.length < 2 || held.length < 2 + held.readUInt16BE(0)) break;
      const end = 2 + held.readUInt16BE(0);
      yield held.subarray(2, end);
      held = held.subarray(end);
    }
  }
}

function withLength(reply: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(reply.length);
  return Buffer.concat([length, reply]);
}
