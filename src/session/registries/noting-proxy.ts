import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const MOST_NOTED = 20;

/**
 * A proxy on the loopback that lets nothing through and notes where it should have gone: for who has its `url` with the
 * key in it, since any program of the machine can connect.
 */
export class NotingProxy {
  readonly #server: Server;
  readonly #asked = new Set<string>();
  readonly #key = randomBytes(16).toString("hex");

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#note(request, request.url ?? "");
      response.writeHead(403, { connection: "close" }).end();
    });
    this.#server.on("connect", (request: IncomingMessage, socket) => {
      this.#note(request, `https://${request.url ?? ""}`);
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
    return `http://ask:${this.#key}@127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
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

  #note({ headers }: IncomingMessage, text: string): void {
    const expected = `Basic ${Buffer.from(`ask:${this.#key}`).toString("base64")}`;
    if (headers["proxy-authorization"] !== expected) return;
    if (this.#asked.size < MOST_NOTED && URL.canParse(text)) this.#asked.add(new URL(text).origin);
  }
}
