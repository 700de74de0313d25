import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTick } from "node:timers/promises";

/** One answer of the server. */
export type Reply = {
  status?: number;
  headers?: Record<string, string>;
  /** Written one after the other. */
  body: readonly (string | Uint8Array)[];
  /** `close` when omitted; `cut` resets the socket after the body, `hang` leaves it open. */
  end?: "close" | "cut" | "hang";
  /** Each byte in a write of its own. */
  bytewise?: boolean;
  /** Not even headers are sent. */
  silent?: boolean;
};

export type ReceivedRequest = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The body as it came, and parsed. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at any part of what was sent
  body: any;
};

/** `data:` of one chunk with this delta. */
export function D(delta: unknown): string {
  return frame({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null }] });
}

/** The chunk that says how the answer ended. */
export function F(finishReason: string): string {
  return frame({
    id: "c",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: {}, finish_reason: finishReason }],
  });
}

export const END = "data: [DONE]\n\n";

export function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** A delta with one part of a tool call; undefined leaves a key out. */
export function tc(index?: number, id?: string, name?: string, args?: string) {
  return { tool_calls: [fragment(index, id, name, args)] };
}

export function fragment(index?: number, id?: string, name?: string, args?: string) {
  return { index, id, type: "function", function: { name, arguments: args } };
}

export function sse(body: readonly string[], rest: Partial<Reply> = {}): Reply {
  return { headers: { "content-type": "text/event-stream" }, body, ...rest };
}

/** The answer with this text and nothing else. */
export function says(text: string): Reply {
  return sse([D({ role: "assistant", content: text }), F("stop"), END]);
}

/** The answer with this one call. */
export function calls(name: string, args: unknown, id = "c1"): Reply {
  return sse([D(tc(0, id, name, JSON.stringify(args))), F("tool_calls"), END]);
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return { status, headers: { "content-type": "application/json", ...headers }, body: [JSON.stringify(value)] };
}

export function html(status: number, text = "<!DOCTYPE html><html><body>Welcome</body></html>"): Reply {
  return { status, headers: { "content-type": "text/html" }, body: [text] };
}

/** An OpenAI-compatible server on loopback that plays one reply a request and keeps what it was sent. */
export class ChatServer {
  readonly requests: ReceivedRequest[] = [];
  /** What `GET /models` lists; 404 when undefined. */
  models: readonly string[] | undefined;
  /** What remains to be played; 418 when nothing is left. */
  readonly replies: Reply[];
  readonly #server: Server;

  private constructor(replies: readonly Reply[]) {
    this.replies = [...replies];
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(...replies: Reply[]): Promise<ChatServer> {
    const server = new ChatServer(replies);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The base URL a client is given. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  /** Resolves when no connection is open any more. */
  async idle(): Promise<void> {
    while ((await this.#connections()) > 0) await nextTick();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString("utf8");
    const { method = "", url: path = "", headers } = request;
    this.requests.push({ method, path, headers, text, body: text === "" ? undefined : JSON.parse(text) });
    await play(path.endsWith("/models") ? this.#modelList() : (this.replies.shift() ?? NOTHING_LEFT), response);
  }

  #modelList(): Reply {
    if (!this.models) return json(404, { error: { message: "no list" } });
    return json(200, { object: "list", data: this.models.map((id) => ({ id, object: "model" })) });
  }

  #connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  }
}

const NOTHING_LEFT = json(418, { error: { message: "the test has no reply for this request" } });

async function play(reply: Reply, response: ServerResponse): Promise<void> {
  if (reply.silent) return;
  response.on("error", () => {});
  response.socket?.setNoDelay(true);
  response.writeHead(reply.status ?? 200, reply.headers);
  response.flushHeaders();
  for (const part of reply.body) {
    const bytes = Buffer.from(part);
    for (const piece of reply.bytewise ? [...bytes].map((byte) => Buffer.of(byte)) : [bytes]) {
      response.write(piece);
      await nextTick();
    }
  }
  if (reply.end === "hang") return;
  if (reply.end === "cut") {
    // What was written must leave before the reset, or the client sees none of it.
    await new Promise<void>((done) => response.write("", () => done()));
    await nextTick();
    response.socket?.resetAndDestroy();
    return;
  }
  response.end();
}
