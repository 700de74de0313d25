import { connect, type Socket } from "node:net";
import { TestServer } from "./servers.ts";

/** How a {@link TestProxy} answers a CONNECT: tunnels to a port of loopback, or says this. */
type Answer = { tunnelTo: number } | { say: string };

/** A real HTTP proxy on loopback that knows CONNECT and nothing else, and keeps what it was asked. */
export class TestProxy implements AsyncDisposable {
  readonly heads: string[] = [];
  readonly #server: TestServer;

  private constructor(server: TestServer) {
    this.#server = server;
  }

  static async open(answer: Answer): Promise<TestProxy> {
    const server = await TestServer.open((socket) => {
      let head = "";
      const listen = (bytes: Buffer): void => {
        head += bytes.toString("latin1");
        if (!head.includes("\r\n\r\n")) return;
        socket.off("data", listen);
        proxy.heads.push(head);
        if ("say" in answer) socket.write(answer.say);
        else tunnel(socket, answer.tunnelTo);
      };
      socket.on("data", listen);
    });
    const proxy = new TestProxy(server);
    return proxy;
  }

  get port(): number {
    return this.#server.port;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }
}

function tunnel(socket: Socket, port: number): void {
  const far = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  far.on("error", () => socket.destroy());
  socket.write("HTTP/1.1 200 Connection established\r\nProxy-Agent: test\r\n\r\n");
  socket.pipe(far);
  far.pipe(socket);
}
