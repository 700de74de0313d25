import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { dial, type Gate, listenOn, openGate, openServer, outcomeOf, portOf, readAll } from "./carry-fixture.ts";

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const HOST = "Host: allowed.test\r\n";
const SECRET = `GET /secret/y HTTP/1.1\r\n${HOST}\r\n`;
const withBody = (method: string, body = SECRET) =>
  `${method} /public/x HTTP/1.1\r\n${HOST}Content-Length: ${body.length}\r\n\r\n${body}`;
const inChunks = (method: string) =>
  `${method} /public/x HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${SECRET.length.toString(16)}\r\n${SECRET}\r\n0\r\n\r\n`;

/** A gate by a rule for the paths below `/public`. */
async function gateTo(to: number): Promise<Gate> {
  const gate = await openGate({
    ...{ to, port: 80, tls: "refused" },
    judge: ({ path }) =>
      path.startsWith("/public/")
        ? { type: "allow", rule: "user/network.allow[0]" }
        : { type: "deny", rule: "user/network.allow[0]", enableWith: "add the path" },
  });
  closing.push(gate.close);
  return gate;
}

async function say(port: number, said: string): Promise<string> {
  const client = await dial(port);
  client.write(said);
  setTimeout(() => client.end(), 300);
  return await readAll(client);
}

/** Python's own server of files, which does not read the body of a GET. */
async function openPython(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-www-"));
  for (const [name, words] of Object.entries({ "public/x": "hello", "secret/y": "TOPSECRET" })) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), words);
  }
  const script =
    "import http.server as h\nh.SimpleHTTPRequestHandler.protocol_version='HTTP/1.1'\ns=h.ThreadingHTTPServer(('127.0.0.1',0),h.SimpleHTTPRequestHandler)\nprint(s.server_port,flush=True)\ns.serve_forever()";
  const python = spawn("python3", ["-c", script], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  closing.push(async () => {
    python.kill();
    await once(python, "exit");
    rmSync(folder, { recursive: true });
  });
  const [port] = await once(python.stdout, "data");
  return Number(String(port));
}

/** Answers each request line that it meets, wherever it is, and reads no bodies. */
async function openBodiless(pauseMs: number): Promise<number> {
  const server = await openServer((socket) => {
    let at = Promise.resolve();
    socket.on("end", () => at.then(() => socket.end()));
    socket.on("data", (piece) => {
      for (const [, path] of piece.toString("latin1").matchAll(/(?:GET|POST|PUT|PATCH|FROB) (\S+) HTTP/g)) {
        at = at.then(() => answer(socket, path === "/secret/y" ? "TOPSECRET" : "hello", pauseMs));
      }
    });
  });
  closing.push(server.close);
  return server.port;
}

async function answer(socket: Socket, words: string, pauseMs: number): Promise<void> {
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${words.length}\r\n\r\n${words}`);
  if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
}

describe("a request in the body of another, where rules are for paths", { timeout: 30_000 }, () => {
  it("is refused where a server reads no bodies of GET", async () => {
    const python = await openPython();
    expect(await say(python, withBody("GET"))).toContain("TOPSECRET");
    for (const method of ["GET", "HEAD", "OPTIONS", "TRACE", "DELETE", "get"]) {
      for (const attack of [withBody(method), inChunks(method)]) {
        const gate = await gateTo(python);
        const said = await say(gate.port, attack);
        expect(said).toContain(`a request by ${method} has a body`.slice(0, method === "HEAD" ? 0 : undefined));
        expect(said).not.toContain("TOPSECRET");
        expect([(await outcomeOf(gate))?.verdict, gate.carried[0]?.dials]).toEqual(["denied", 0]);
      }
    }
    const gate = await gateTo(python);
    expect(await say(gate.port, withBody("GET", ""))).toMatch(/^HTTP\/1.1 200 OK\r\n(?:.|\r|\n)*hello$/);
  });

  it.each([0, 100])("is not answered where a server reads no bodies at all (answers %d ms apart)", async (pauseMs) => {
    const server = await openBodiless(pauseMs);
    for (const method of ["POST", "PUT", "PATCH", "FROB"]) {
      for (const attack of [withBody(method), inChunks(method)]) {
        expect(await say(server, attack)).toContain("TOPSECRET");
        const gate = await gateTo(server);
        expect(await say(gate.port, attack)).toMatch(
          /^HTTP\/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello$/,
        );
        expect(await outcomeOf(gate)).toBeUndefined();
      }
    }
  });

  it("is not answered where it comes after an answer that came early", async () => {
    const server = await openBodiless(0);
    const attack = withBody("POST");
    const at = attack.length - SECRET.length;
    const client = await dial((await gateTo(server)).port);
    client.write(attack.slice(0, at));
    client.once("data", () => client.write(SECRET));
    expect(await readAll(client)).toMatch(/\r\n\r\nhello$/);
  });

  it("a request behind one with a body does not pass, nor does anything after it", async () => {
    const got: string[] = [];
    const server = await openServer((socket) => socket.on("data", (piece) => got.push(`${piece}`)));
    closing.push(server.close);
    const next = `GET /public/z HTTP/1.1\r\n${HOST}\r\n`;
    const gate = await gateTo(server.port);
    const client = await dial(gate.port);
    client.write(withBody("POST"));
    while (got.join("").length < withBody("POST").length) await new Promise(setImmediate);
    client.write(next);
    await readAll(client);
    expect((await outcomeOf(gate))?.message).toContain("a request follows one with a body");
    expect(got.join("")).toBe(withBody("POST"));
  });

  it("an answer that nobody asked for does not pass", async () => {
    const OK = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    const server = await openServer((socket) => socket.on("data", () => socket.write(OK + OK)));
    closing.push(server.close);
    const gate = await gateTo(server.port);
    expect(await say(gate.port, `GET /public/x HTTP/1.1\r\n${HOST}\r\n`)).toBe(OK);
    expect(await outcomeOf(gate)).toBeUndefined();
  });

  it("an answer whose end cannot be seen does not pass", async () => {
    const server = await openServer((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello"));
    closing.push(server.close);
    const gate = await gateTo(server.port);
    expect(await say(gate.port, withBody("POST"))).not.toContain("hello");
    expect((await outcomeOf(gate))?.message).toContain("the end of the server's answer cannot be seen");
  });

  it("ordinary clients post as often as they want, and get large answers whole, however slowly they read", async () => {
    const large = "x".repeat(3_000_000);
    const server = createServer((req, res) => {
      text(req).then((body) => res.end(req.method === "POST" ? `${body.length}${large}` : "got"));
    });
    closing.push(await listenOn(server));
    const gate = await gateTo(portOf(server));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    closing.push(() => agent.destroy());
    const fetchBy = (method: string, body: string) =>
      new Promise<string>((resolve, reject) => {
        const headers = { host: "allowed.test" };
        const req = request(
          { host: "127.0.0.1", port: gate.port, path: "/public/x", method, headers, agent },
          (res) => {
            setTimeout(() => text(res).then(resolve, reject), 400);
          },
        );
        req.on("error", reject).end(body);
      });
    const body = "b".repeat(500_000);
    for (let turn = 0; turn < 3; turn += 1) {
      expect((await fetchBy("POST", body)) === `500000${large}`).toBe(true);
      expect(await fetchBy("GET", "")).toBe("got");
    }
    expect(await Promise.all(gate.carried.slice(0, 3).map(({ done }) => done))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("where rules are for neither, a connection is kept after a body", async () => {
    const server = createServer((req, res) => req.resume().on("end", () => res.end("got")));
    closing.push(await listenOn(server));
    const gate = await openGate({ to: portOf(server), port: 80 });
    closing.push(gate.close);
    const client = connect(gate.port, "127.0.0.1");
    const last = `GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
    client.write(withBody("POST") + withBody("GET") + last);
    expect([...(await readAll(client)).matchAll(/got/g)].length).toBe(3);
  });
});
