import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const MOST_NOTED = 20;

/** A proxy on the loopback that lets nothing through and notes where it should have gone. */
export class NotingProxy {
  readonly #server: Server;
  readonly #asked = new Set<string>();

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#note(request.url ?? "");
      response.writeHead(403, { connection: "close" }).end();
    });
    this.#server.on("connect", ({ url = "" }, socket) => {
      this.#note(`https://${url}`);
      socket.on("error", () => undefined);
      socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    this.#server.on("clientError", (_, socket) => socket.destroy());
  }

  static async open(): Promise<NotingProxy> {
    const proxy = new NotingProxy();
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Addresses of hosts, each once, in the order of the first questions. */
  get asked(): readonly string[] {
    return [...this.#asked];
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #note(text: string): void {
    if (this.#asked.size < MOST_NOTED && URL.canParse(text)) this.#asked.add(new URL(text).origin);
  }
}
