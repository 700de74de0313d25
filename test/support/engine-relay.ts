import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** A request to the engine, counted from 1; `path` without version and query. */
export type RelayedRequest = { number: number; method: string; path: string };

/**
 * What becomes of a request. `refuse`: answered with status 500. `cut`: the connection breaks before the engine hears of
 * it. `lose`: the connection breaks when the engine has carried it out. `withhold`: it does not even break.
 */
export type Fault = "pass" | "refuse" | "cut" | "lose" | "withhold";

const ENGINE = "unix:///var/run/docker.sock";

/** A socket between glovebox and a real engine whose faults a test chooses. */
export class EngineRelay implements AsyncDisposable {
  readonly requests: RelayedRequest[] = [];
  /** Asked for each request; passes all when it is not set. */
  onRequest: (request: RelayedRequest) => Fault = () => "pass";
  /** While true every byte is swallowed, in both directions, and no connection closes: half-open. */
  isSilent = false;
  readonly #server: Server;
  readonly path: string;
  readonly #upstream: string;
  readonly #sockets = new Set<Socket>();
  readonly #waiting: (() => void)[] = [];
  #isCut = false;
  #withheld = false;

  private constructor(path: string, upstream: string) {
    this.path = path;
    this.#upstream = upstream;
    // dockerode puts the whole body into the query as well, the seccomp profile included.
    this.#server = createServer({ maxHeaderSize: 1024 * 1024 }, (incoming, response) =>
      this.#relay(incoming, response),
    );
    this.#server.on("upgrade", (incoming, socket, head) => this.#hijack(incoming, socket, head));
    this.#server.on("connection", (socket) => {
      if (this.#isCut) return void socket.destroy();
      this.#track(socket);
    });
  }

  /** Listens at `path`, in front of the engine of these tests or of another one. */
  static async create(path: string, upstream = process.env["DOCKER_HOST"] ?? ENGINE): Promise<EngineRelay> {
    const relay = new EngineRelay(path, upstream.replace(/^unix:\/\//, ""));
    relay.#server.listen(relay.path);
    await once(relay.#server, "listening");
    return relay;
  }

  /** As a value of DOCKER_HOST. */
  get host(): string {
    return `unix://${this.path}`;
  }

  /** Breaks every connection, and each new one until {@link mend}. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** New connections pass again; broken ones stay broken. */
  mend(): void {
    this.#isCut = false;
    this.isSilent = false;
  }

  /** Resolves when the engine has answered a request whose answer is withheld. */
  async withheld(): Promise<void> {
    if (!this.#withheld) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => this.#sockets.delete(socket));
  }

  #judge(incoming: IncomingMessage): Fault {
    const path = (incoming.url ?? "").replace(/^\/v[\d.]+/, "").replace(/\?.*$/, "");
    const seen = { number: this.requests.length + 1, method: incoming.method ?? "", path };
    this.requests.push(seen);
    return this.onRequest(seen);
  }

  #relay(incoming: IncomingMessage, response: ServerResponse): void {
    if (this.isSilent) return;
    const fault = this.#judge(incoming);
    if (fault === "cut") return void incoming.socket.destroy();
    if (fault === "refuse") {
      const body = JSON.stringify({ message: "refused by the test" });
      return void response.writeHead(500, { "Content-Type": "application/json" }).end(body);
    }
    const { method, url, headers } = incoming;
    const onward = request({ socketPath: this.#upstream, method, path: url, headers, agent: false });
    onward.on("socket", (socket) => this.#track(socket));
    onward.on("error", () => response.destroy());
    onward.on("response", (answer) => {
      if (fault === "withhold") return this.#withhold(answer);
      if (fault === "lose") return void response.destroy();
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      response.flushHeaders();
      answer.on("data", (bytes: Buffer) => {
        if (!this.isSilent) response.write(bytes);
      });
      answer.on("end", () => {
        if (!this.isSilent) response.end();
      });
      answer.on("close", () => {
        if (!answer.complete) response.destroy();
      });
    });
    response.on("close", () => onward.destroy());
    incoming.pipe(onward);
  }

  /** The bytes of an upgraded connection, its request and answer included, as they are. */
  #hijack(incoming: IncomingMessage, near: Duplex, head: Buffer): void {
    if (this.isSilent) return;
    const fault = this.#judge(incoming);
    if (fault === "cut") return void near.destroy();
    if (fault === "refuse") {
      return void near.end("HTTP/1.1 500 Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    const far = connect({ path: this.#upstream, allowHalfOpen: true });
    this.#track(far);
    near.on("error", () => undefined);
    const fields = incoming.rawHeaders.map((text, index) => (index % 2 === 0 ? `\r\n${text}: ` : text)).join("");
    far.write(`${incoming.method} ${incoming.url} HTTP/1.1${fields}\r\n\r\n`);
    far.write(head);
    near.on("data", (bytes: Buffer) => this.#pass(bytes, near, far));
    far.on("data", (bytes: Buffer) => {
      if (fault === "withhold") this.#withhold(far);
      else if (fault === "lose") near.destroy();
      else this.#pass(bytes, far, near);
    });
    near.on("end", () => this.isSilent || far.end());
    far.on("end", () => this.isSilent || near.end());
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  }

  #pass(bytes: Buffer, from: Duplex, to: Duplex): void {
    if (this.isSilent || to.write(bytes)) return;
    from.pause();
    to.once("drain", () => from.resume());
  }

  #withhold(answer: NodeJS.ReadableStream): void {
    answer.resume();
    this.#withheld = true;
    for (const resolve of this.#waiting) resolve();
  }
}
