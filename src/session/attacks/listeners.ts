import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";

/** Servers of the host that nothing inside may reach: on its loopback, and by an abstract name. */
export class Listeners {
  readonly port: number;
  /** Without the leading NUL; undefined where the system has no such names. */
  readonly abstractName: string | undefined;
  readonly #servers: Server[];
  #hits = 0;

  private constructor(servers: Server[], port: number, abstractName: string | undefined) {
    this.#servers = servers;
    this.port = port;
    this.abstractName = abstractName;
    for (const server of servers) {
      server.on("connection", (socket) => {
        this.#hits++;
        socket.on("error", () => undefined);
        socket.end();
      });
    }
  }

  static async open(): Promise<Listeners> {
    const tcp = createServer().listen(0, "127.0.0.1");
    await once(tcp, "listening");
    const name = process.platform === "linux" ? `glovebox-attack-${randomUUID()}` : undefined;
    const servers = [tcp];
    if (name !== undefined) {
      const abstract = createServer().listen(`\0${name}`);
      await once(abstract, "listening");
      servers.push(abstract);
    }
    return new Listeners(servers, (tcp.address() as AddressInfo).port, name);
  }

  /** Whether the host itself reaches them: without it, no visitor would prove nothing. */
  async answer(): Promise<boolean> {
    const before = this.#hits;
    await visit({ port: this.port, host: "127.0.0.1" });
    if (this.abstractName !== undefined) await visit({ path: `\0${this.abstractName}` });
    const came = this.#hits - before;
    this.#hits = before;
    return came === this.#servers.length;
  }

  /** Visits since the last look, in words. */
  takeHits(): string[] {
    const hits = this.#hits;
    this.#hits = 0;
    return hits === 0 ? [] : [`a server of the host was reached ${hits} times`];
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

async function visit(where: { port: number; host: string } | { path: string }): Promise<void> {
  const socket = connect(where);
  socket.resume();
  await once(socket, "close");
}
