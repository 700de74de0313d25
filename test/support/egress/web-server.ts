import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Identity } from "./authority.ts";
import { bytes } from "./raw-servers.ts";

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;
type Handler = (request: Request, response: Response) => void;

/** What a web server was asked for. */
export type Visit = { method: string; host: string; path: string; version: string };

/** One site, by HTTP, or by HTTPS as HTTP/1.1, HTTP/2 and WebSocket; notes every request. */
export class Site {
  readonly visits: Visit[] = [];
  /** Handlers for paths that begin so, before the built-in ones. */
  readonly extra = new Map<string, Handler>();

  readonly handle: Handler = (request, response) => {
    const url = new URL(request.url ?? "/", "http://site");
    const host = String(request.headers[":authority"] ?? request.headers.host ?? "");
    const path = `${url.pathname}${url.search}`;
    this.visits.push({ method: request.method ?? "", host, path, version: request.httpVersion });
    const [, handler] = [...this.extra].find(([prefix]) => url.pathname.startsWith(prefix)) ?? [];
    if (handler) return handler(request, response);
    answer(url, request, response);
  };

  http(): Server {
    return withSockets(createServer((request, response) => this.handle(request, response)));
  }

  https({ key, cert }: Identity) {
    return withSockets(
      createSecureServer({ key, cert, allowHTTP1: true }, (asked, given) => this.handle(asked, given)),
    );
  }
}

function answer(url: URL, request: Request, response: Response): void {
  const [, what = "", argument = ""] = url.pathname.split("/");
  switch (what) {
    case "bytes":
      send(response, 200, { "content-length": argument });
      return void bytes(Number(argument)).pipe(response as ServerResponse);
    case "upload":
      return receive(request, response);
    case "redirect":
      send(response, 302, { location: url.searchParams.get("to") ?? "/" });
      return void response.end();
    case "silent":
      return;
    default:
      request.resume();
      send(response, 200, { "content-type": "text/plain" });
      response.end(`hello ${url.pathname}\n`);
  }
}

/** Of two types that share all but their overloads. */
function send(response: Response, status: number, headers: Record<string, string>): void {
  (response as ServerResponse).writeHead(status, headers);
}

function receive(request: Request, response: Response): void {
  const hash = createHash("sha256");
  let count = 0;
  request.on("data", (chunk: Buffer) => {
    count += chunk.length;
    hash.update(chunk);
  });
  request.on("end", () => {
    send(response, 200, {});
    response.end(`${count} ${hash.digest("hex")}\n`);
  });
}

function withSockets<
  S extends { on: (event: "upgrade", listener: (...args: [IncomingMessage, Duplex, Buffer]) => void) => unknown },
>(server: S): S {
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (client: WebSocket) => {
      client.on("message", (data: Buffer, isBinary: boolean) => client.send(data, { binary: isBinary }));
    });
  });
  return server;
}
