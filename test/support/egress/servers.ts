import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** A real server on loopback that counts its connections. */
export class TestServer implements AsyncDisposable {
  connections = 0;
  readonly sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(onConnection: (socket: Socket) => void): Promise<TestServer> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      opened.connections += 1;
      opened.sockets.add(socket);
      socket.on("close", () => opened.sockets.delete(socket)).on("error", () => undefined);
      onConnection(socket);
    });
    const opened = new TestServer(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return opened;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** Says back what it hears, and ends when the other does. */
export function echo(socket: Socket): void {
  socket.pipe(socket);
}
