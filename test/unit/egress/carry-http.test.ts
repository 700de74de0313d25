import { execFile } from "node:child_process";
import { Agent, createServer, get, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import {
  dial,
  type Gate,
  type GateOptions,
  listenOn,
  openGate,
  openServer,
  outcomeOf,
  portOf,
  readAll,
} from "./carry-fixture.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A gate to `allowed.test`, port 80, in front of a server of bytes. */
async function gateTo(server: { port: number; close: () => Promise<void> }, more: GateOptions = {}): Promise<Gate> {
  const gate = await openGate({ port: 80, to: server.port, ...more });
  closing.push(server.close, gate.close);
  return gate;
}

async function http(listener: RequestListener): Promise<{ server: Server; port: number; close: () => Promise<void> }> {
  const server = createServer(listener);
  const close = await listenOn(server);
  return { server, port: portOf(server), close };
}

/** What a program reads that sends `text` and waits for the end. */
async function say(gate: Gate, text: string): Promise<string> {
  const client = await dial(gate.port);
  client.write(Buffer.from(text, "latin1"));
  return await readAll(client);
}

const HOST = "Host: allowed.test\r\n";
const GET = `GET /a HTTP/1.1\r\n${HOST}\r\n`;
const CLOSE = `GET /end HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

function statusesIn(said: string): number[] {
  return [...said.matchAll(/HTTP\/1.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** Answers every request with the requests' first line and body, as node reads them. */
const echo: RequestListener = (req, res) => {
  const parts: Buffer[] = [];
  req.on("data", (part: Buffer) => parts.push(part));
  req.on("end", () => res.end(`${req.method} ${req.url} ${Buffer.concat(parts).toString()}`));
};

describe("plain HTTP", { timeout: 30_000 }, () => {
  it("N-69 passes on every request of a kept connection: bodies, chunks, trailers, HEAD, pipelined", async () => {
    const seen: string[] = [];
    const gate = await gateTo(
      await http((req, res) => {
        seen.push(`${req.method} ${req.url}`);
        if (req.url === "/none") res.writeHead(204).end();
        else if (req.url === "/same") res.writeHead(304, { "content-length": "7" }).end();
        else echo(req, res);
      }),
    );
    const post = `POST /l HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`;
    const chunks = `POST /c HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nA: b\r\n\r\n`;
    const bare = ["HEAD /h", "OPTIONS *", "GET /none", "GET /same", "GET http://allowed.test/abs"];
    const rest = bare.map((line) => `${line} HTTP/1.1\r\n${HOST}\r\n`).join("");
    const said = await say(gate, GET + post + chunks + rest + CLOSE);
    expect(seen.length).toBe(9);
    expect(statusesIn(said)).toEqual([200, 200, 200, 200, 200, 204, 304, 200, 200]);
    expect(said).toContain("POST /l abc");
    expect(said).toContain("POST /c abc");
    expect(await outcomeOf(gate)).toBeUndefined();
    expect(gate.carried[0]?.dials).toBe(1);
  });

  it("N-69 lets the server continue, hint, answer early, and answer after the program has finished", async () => {
    const { server, ...rest } = await http((req, res) => {
      res.writeEarlyHints({ link: "</a>; rel=preload" });
      req.resume().on("end", () => setImmediate(() => res.end("late")));
    });
    server.on("checkContinue", (_req, res) => res.writeContinue() ?? res.writeHead(413).end("early"));
    const gate = await gateTo({ ...rest });
    const client = await dial(gate.port);
    const expecting = `POST /big HTTP/1.1\r\n${HOST}Expect: 100-continue\r\nContent-Length: 4\r\n\r\n`;
    client.write(expecting);
    client.end(`body${GET}`);
    const said = await readAll(client);
    expect(statusesIn(said)).toEqual([100, 413, 103, 200]);
    expect(said).toContain("late");
    expect(await outcomeOf(gate)).toBeUndefined();
  });

  it("N-69 delivers an answer whose server goes away without reading the rest of the request", async () => {
    const server = await openServer((socket) => {
      socket.once("data", () => socket.pause().end(OK, () => setImmediate(() => socket.resetAndDestroy())));
    });
    const gate = await gateTo(server);
    const client = await dial(gate.port);
    client.write(`POST / HTTP/1.1\r\n${HOST}Content-Length: 1000000\r\n\r\n`);
    const said = readAll(client);
    client.once("data", () => client.write("x".repeat(1_000_000)));
    expect(await said).toMatch(new RegExp(`^${OK}`));
    expect(await outcomeOf(gate)).toBeUndefined();
  });

  it("O-NET-04 a request for another host is answered with the reason, and nothing is dialled", async () => {
    const server = await openServer((socket) => socket.end(OK));
    const gate = await gateTo(server);
    const said = await say(gate, "GET /?s=secret HTTP/1.1\r\nHost: denied.test\r\n\r\n");
    expect(said).toMatch(/^HTTP\/1.1 403 Forbidden\r\n/);
    expect(said).toContain("`denied.test` on a connection to `allowed.test`");
    expect(await outcomeOf(gate)).toMatchObject({ verdict: "denied", denial: { rule: "built-in/network.requests" } });
    expect([gate.carried[0]?.dials, server.connections]).toEqual([0, 0]);
  });

  it("N-67 a second request to another host ends the connection, kept alive or pipelined", async () => {
    const got: string[] = [];
    const server = await openServer((socket) => socket.on("data", (part) => got.push(`${part}`) && socket.write(OK)));
    const other = GET.replace("allowed.test", "denied.test");
    const gate = await gateTo(server);
    const client = await dial(gate.port);
    client.write(GET);
    client.once("data", () => client.write(other));
    const said = await readAll(client);
    expect(said.slice(OK.length)).toMatch(/^HTTP\/1.1 403 /);
    expect((await outcomeOf(gate))?.message).toContain("denied.test");
    expect(got).toEqual([GET]);
    const pipelined = await gateTo(server);
    expect(await say(pipelined, GET + other)).toMatch(/^(?:HTTP\/1.1 403 |!)/);
    expect(got).toEqual([GET]);
  });

  it("N-67 a refusal is no answer to a request that has none yet: the connection is reset", async () => {
    const server = await openServer((socket) => socket.resume());
    const gate = await gateTo(server);
    const client = await dial(gate.port);
    client.write(GET);
    while (server.connections === 0) await new Promise(setImmediate);
    client.write("GET /x HTTP/1.1\r\nHost: denied.test\r\n\r\n");
    expect(await readAll(client)).toMatch(/^!/);
    expect((await outcomeOf(gate))?.verdict).toBe("denied");
  });

  it("N-67 a head that comes too slowly ends the connection, the first or a later one", async () => {
    const server = await openServer((socket) => socket.on("data", () => socket.write(OK)));
    for (const text of ["GET /slow HTT", `${GET}GET /slow HTT`]) {
      const gate = await gateTo(server, { options: { headMs: 50 } });
      expect(await say(gate, text)).toMatch(/!/);
      expect(await outcomeOf(gate)).toMatchObject({ verdict: "failed" });
    }
  });

  it("N-71 a connection that is silent between two requests, or in an answer, is not cut", async () => {
    const server = await openServer((socket) => socket.on("data", () => socket.write(OK)));
    const gate = await gateTo(server, { options: { headMs: 700, firstBytesMs: 700, lingerMs: 20 } });
    const client = await dial(gate.port);
    const answers: string[] = [];
    client.on("data", (part) => answers.push(`${part}`));
    for (const count of [1, 2]) {
      client.write(GET);
      while (answers.length < count) await new Promise(setImmediate);
      await new Promise((resolve) => setTimeout(resolve, 800));
    }
    client.end();
    expect(answers).toEqual([OK, OK]);
  });

  it("a program that says nothing is told that `protocol: tcp` is for servers that speak first", async () => {
    const gate = await gateTo(await openServer(() => undefined), { options: { firstBytesMs: 30 } });
    expect(await say(gate, "")).toMatch(/^!/);
    expect(await outcomeOf(gate)).toMatchObject({ verdict: "denied", denial: { rule: "built-in/network.protocol" } });
    expect(gate.carried[0]?.dials).toBe(0);
  });

  it("a Host with the dot that ends a name is that name", async () => {
    const gate = await gateTo(await openServer((socket) => socket.on("data", () => socket.end(OK))));
    expect(await say(gate, GET.replace("allowed.test", "allowed.test."))).toBe(OK);
  });

  it("a program that only looks whether the port is open is no refusal", async () => {
    const gate = await gateTo(await openServer(() => undefined));
    const client = await dial(gate.port);
    client.end();
    expect(await readAll(client)).toBe("");
    expect(await outcomeOf(gate)).toBeUndefined();
    expect(gate.carried[0]?.dials).toBe(0);
  });

  it("N-48 a redirect to another host passes, and following it on the same connection does not", async () => {
    const moved = "HTTP/1.1 302 Found\r\nLocation: http://denied.test/\r\nContent-Length: 0\r\n\r\n";
    const got: string[] = [];
    const server = await openServer((socket) =>
      socket.on("data", (part) => got.push(`${part}`) && socket.write(moved)),
    );
    const gate = await gateTo(server);
    const client = await dial(gate.port);
    client.write(GET);
    client.once("data", () => client.write("GET / HTTP/1.1\r\nHost: denied.test\r\n\r\n"));
    const said = await readAll(client);
    expect(said.startsWith(moved)).toBe(true);
    expect(statusesIn(said)).toEqual([302, 403]);
    expect(got).toEqual([GET]);
  });

  it("single requests are judged by method and path, without the query", async () => {
    const judged: unknown[] = [];
    const gate = await gateTo(await http(echo), {
      tls: "refused",
      judge: (one) => {
        judged.push(one);
        if (one.method === "GET") return { type: "allow", rule: "user/network.allow[0]" };
        return { type: "deny", rule: "user/network.allow", enableWith: "add it to `network.allow`" };
      },
    });
    const client = await dial(gate.port);
    client.write(`GET /a/b?c=d HTTP/1.1\r\n${HOST}\r\n`);
    client.once("data", () => client.write(`POST /a/b HTTP/1.1\r\n${HOST}Content-Length: 100000\r\n\r\nabc`));
    const said = await readAll(client);
    expect(said).toContain("GET /a/b?c=d");
    expect(said).toContain("HTTP/1.1 403 Forbidden");
    expect(said).toContain("`POST http://allowed.test/a/b` is not admitted (rule user/network.allow)");
    expect(await outcomeOf(gate)).toMatchObject({
      message: "`POST http://allowed.test/a/b` is not admitted",
      denial: { rule: "user/network.allow", enable_with: "add it to `network.allow`" },
    });
    expect(judged.at(-1)).toEqual({ method: "POST", path: "/a/b" });
  });
});

describe("real programs over plain HTTP", { timeout: 30_000 }, () => {
  const run = promisify(execFile);
  /** Upstream of these is a gate at the port that their URL names. */
  const at = (gate: Gate) => [gate.port, `http://allowed.test:${gate.port}/open?q`] as const;
  const real = async () => {
    const server = await http(echo);
    const judge: GateOptions["judge"] = ({ path }) =>
      path === "/open"
        ? { type: "allow", rule: "user/network.allow[0]" }
        : { type: "deny", rule: "user/network.allow", enableWith: "add the path" };
    return await gateTo(server, { tls: "refused", judge });
  };

  it("N-04 curl posts, is served and told why it is not", async () => {
    const gate = await real();
    const [port, url] = at(gate);
    const curl = ["-sS", "--resolve", `allowed.test:${port}:127.0.0.1`, "-H", "Host: allowed.test"];
    const chunked = [...curl, "-H", "Transfer-Encoding: chunked", "--data-binary", "abc"];
    expect((await run("curl", [...curl, url])).stdout).toBe("GET /open?q ");
    expect((await run("curl", [...chunked, url])).stdout).toBe("POST /open?q abc");
    const refused = await run("curl", [
      ...curl,
      "-w",
      "%{http_code}",
      "-d",
      "x".repeat(100_000),
      `${url}/`.replace("open", "shut"),
    ]);
    expect(refused.stdout).toMatch(/^glovebox: `POST http:\/\/allowed.test\/shut` is not admitted .*\n403$/);
    expect(gate.carried.map(({ dials }) => dials)).toEqual([1, 1, 0]);
  });

  it("N-04 Node's client keeps its connection, for requests that are judged one by one", async () => {
    const gate = await real();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const fetchPath = (path: string) =>
      new Promise<string>((resolve, reject) => {
        const headers = { host: "allowed.test" };
        const req = get({ host: "127.0.0.1", port: gate.port, path, headers, agent }, (res) => {
          text(res).then((body) => resolve(`${res.statusCode} ${body}`), reject);
        });
        req.on("error", reject);
      });
    expect(await fetchPath("/open?1")).toBe("200 GET /open?1 ");
    expect(await fetchPath("/open?2")).toBe("200 GET /open?2 ");
    expect(await fetchPath("/shut")).toMatch(/^403 glovebox: /);
    agent.destroy();
    expect(gate.carried.length).toBe(1);
  });
});

describe("what else comes to an open port", { timeout: 30_000 }, () => {
  const WEBSOCKET = `GET /ws HTTP/1.1\r\n${HOST}Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`;
  const SWITCH = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";

  it("N-68 a WebSocket passes raw once the server has agreed", async () => {
    const got: string[] = [];
    const server = await openServer((socket) => {
      socket.once("data", (head) => {
        got.push(`${head}`);
        socket.write(`HTTP/1.1 103 Early Hints\r\n\r\n${SWITCH}hello`);
        socket.on("data", (part) => got.push(part.toString("latin1")) && socket.end(part));
      });
    });
    const gate = await gateTo(server);
    expect(await say(gate, `${WEBSOCKET}\u0081\u0000raw`)).toContain(`${SWITCH}hello\u0081\u0000raw`);
    expect(got).toEqual([WEBSOCKET, "\u0081\u0000raw"]);
  });

  it("N-68 a WebSocket that the server declines leaves a connection whose requests are judged", async () => {
    const got: string[] = [];
    const server = await openServer((socket) => socket.on("data", (part) => got.push(`${part}`) && socket.write(OK)));
    const gate = await gateTo(server);
    const client = await dial(gate.port);
    client.write(WEBSOCKET);
    client.once("data", () => client.write(GET) && client.write("GET / HTTP/1.1\r\nHost: denied.test\r\n\r\n"));
    await readAll(client);
    expect((await outcomeOf(gate))?.message).toContain("denied.test");
    expect(got).toEqual([WEBSOCKET, GET]);
  });

  it("N-68 a change of protocol that nobody asked for ends the connection", async () => {
    const gate = await gateTo(await openServer((socket) => socket.once("data", () => socket.write(SWITCH))));
    expect(await say(gate, GET)).toMatch(/^!/);
    expect((await outcomeOf(gate))?.message).toContain("which no request had asked for");
  });

  it.each([
    ["a later request", GET + WEBSOCKET],
    ["no key", WEBSOCKET.replace("dGhlIHNhbXBsZSBub25jZQ==", "x")],
    ["another version", WEBSOCKET.replace("Version: 13", "Version: 8")],
    ["another method", WEBSOCKET.replace("GET", "POST")],
    ["a body", WEBSOCKET.replace("Upgrade: w", "Content-Length: 5\r\nUpgrade: w")],
    ["no Connection header", WEBSOCKET.replace("keep-alive, Upgrade", "keep-alive")],
  ])("N-68 a WebSocket with %s is refused", async (_what, text) => {
    const server = await openServer((socket) => socket.on("data", () => socket.write(OK)));
    const gate = await gateTo(server);
    await say(gate, text);
    expect((await outcomeOf(gate))?.message).toContain("WebSocket");
    expect(server.connections).toBe(0);
  });

  it.each([
    ["N-66 HTTP/2 by prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2 without TLS"],
    ["N-66 an upgrade to h2c", GET.replace("\r\n\r\n", "\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"), "`h2c`"],
    ["N-63 a mail client", "EHLO me\r\n", "met `EHLO me`"],
    ["N-63 bytes that are no text", "\u0000\u0001\u0002\u0003", "\\x00\\x01\\x02\\x03"],
    ["N-63 a word without an end", "A".repeat(40), "met `AAAA"],
    ["N-63 an SSH client at another port", "SSH-2.0-x\r\n", "SSH"],
    ["N-63 an SSLv2 hello", "\u0080\u002e\u0001\u0003\u0001", "\\x80.\\x01"],
    ["O-NET-04 CONNECT", `CONNECT allowed.test:443 HTTP/1.1\r\n${HOST}\r\n`, "CONNECT"],
    ["O-NET-04 an FTP client's URL", `GET ftp://allowed.test/ HTTP/1.1\r\n${HOST}\r\n`, "ftp://allowed.test/"],
  ])("%s is refused with words, and nothing is dialled", async (_what, text, words) => {
    const server = await openServer((socket) => socket.end(OK));
    const gate = await gateTo(server);
    await say(gate, text);
    const refusal = await outcomeOf(gate);
    expect(refusal?.message).toContain(words);
    expect(refusal?.verdict).toBe("denied");
    expect([gate.carried[0]?.dials, server.connections]).toEqual([0, 0]);
  });

  it("O-NET-04 methods nobody knows are judged like others", async () => {
    const gate = await gateTo(await openServer((socket) => socket.once("data", () => socket.end(OK))));
    expect(await say(gate, GET.replace("GET", "PROPFIND"))).toBe(OK);
    const refusing = await gateTo(await openServer((socket) => socket.end(OK)), {
      judge: ({ method }) => ({ type: "deny", rule: "user/x", enableWith: `allow ${method}` }),
    });
    expect(await say(refusing, GET.replace("GET", "purge"))).toContain("allow purge");
  });
});

describe("SSH", { timeout: 30_000 }, () => {
  const banner = "SSH-2.0-OpenSSH_9.2p1 Debian\r\n";
  const sshd = (socket: Socket) => {
    socket.write("SSH-2.0-server\r\n");
    socket.on("data", (part) => socket.end(part));
  };

  it.each([
    ["a rule with `protocol: ssh`", { protocol: "ssh" }],
    ["port 22", { port: 22 }],
  ] as const)("N-06 passes by %s, the server's banner first or not", async (_by, more) => {
    const gate = await gateTo(await openServer(sshd), more);
    expect(await say(gate, banner)).toBe(`SSH-2.0-server\r\n${banner}`);
    expect(await outcomeOf(gate)).toBeUndefined();
  });

  it.each([
    ["TLS", "\u0016\u0003\u0001\u0002\u0000"],
    ["HTTP", GET],
    ["version 1", "SSH-1.5-x\r\n"],
    ["a banner without an end", `SSH-2.0-${"x".repeat(300)}`],
    ["control characters in the banner", "SSH-2.0-a\u0000b\r\n"],
  ])("N-06 %s by a rule for SSH never reaches the server", async (_what, text) => {
    const got: string[] = [];
    const gate = await gateTo(await openServer((socket) => socket.on("data", (part) => got.push(`${part}`))), {
      protocol: "ssh",
    });
    expect(await say(gate, text)).toMatch(/!/);
    expect((await outcomeOf(gate))?.message).toContain("expected the banner of an SSH client");
    expect(got).toEqual([]);
  });
});
