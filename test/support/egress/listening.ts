import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";

/** A listening TCP server of any kind: its port, how often it was connected to, and its end. */
export class Listening implements AsyncDisposable {
  readonly port: number;
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on("connection", (socket: Socket) => {
      this.connections++;
      this.#sockets.add(socket);
      // A peer that resets is no failure of the test's server.
      socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket));
    });
  }

  static async start(server: Server, { port = 0, host = "127.0.0.1" } = {}): Promise<Listening> {
    server.listen(port, host);
    await once(server, "listening");
    return new Listening(server);
  }

  /** Connections that are still open. */
  get open(): number {
    return this.#sockets.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
