import { createServer } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { createAuthority } from "../../../src/egress/carry/authority.ts";
import { createCarry } from "../../../src/egress/carry/carry.ts";
import { RequestReader } from "../../../src/egress/carry/request-reader.ts";
import { ResponseReader } from "../../../src/egress/carry/response-reader.ts";
import { turnOfLoop } from "../../../src/egress/carry/turns.ts";
import { MuxStream, type MuxWire } from "../../../src/protocol/mux-stream.ts";
import { dial, listenOn, openGate, openServer, outcomeOf, portOf, readAll } from "./carry-fixture.ts";
import { LOOKING, read } from "./request-fixture.ts";

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const HOST = "Host: allowed.test\r\n";
const GET = `GET /a HTTP/1.1\r\n${HOST}\r\n`;
const OPEN = `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`;

/** 64 KiB in pieces that begin and end anywhere. */
function piecesOf(head: string, chunk: string): Buffer[] {
  const all = Buffer.from(head + chunk.repeat(200_000), "latin1");
  return Array.from({ length: Math.floor(all.length / 65_536) }, (_, at) =>
    all.subarray(at * 65_536, (at + 1) * 65_536),
  );
}

describe("chunks that hold one byte", { timeout: 30_000 }, () => {
  it.each(["1\r\na\r\n", "1;x\r\na\r\n", "0000000000001\r\na\r\n"])(
    "of a request pass as the pieces came: %j",
    (chunk) => {
      const passed: Buffer[] = [];
      const reader = new RequestReader({
        looking: LOOKING,
        admit: () => undefined,
        pass: (bytes) => passed.push(bytes),
      });
      const [first, ...pieces] = piecesOf(OPEN, chunk);
      if (first) reader.push(first);
      passed.length = 0;
      for (const piece of pieces) reader.push(piece);
      expect(
        passed.every((bytes, at) => bytes.buffer === pieces[at]?.buffer && bytes.equals(pieces[at] ?? bytes)),
      ).toBe(true);
      expect(passed.length).toBe(pieces.length);
    },
  );

  it("of an answer are followed to its end", () => {
    const statuses: number[] = [];
    const reader = new ResponseReader({ onStatus: (status) => statuses.push(status), isStrict: false });
    reader.expect({ method: "GET", isLast: false });
    const pieces = piecesOf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n");
    for (const piece of pieces) expect(reader.push(piece).length).toBe(piece.length);
    expect(reader.isIdle).toBe(false);
  });
});

describe("what an answer is followed by", { timeout: 30_000 }, () => {
  const ANSWERS = [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5  \r\nhello\r\n1;x=y\r\na\r\n0\r\nA: b\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length:  5 \r\n\r\nhello",
    "HTTP/1.0 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
  ];

  it("is the next, in pieces of any size", () => {
    for (let size = 1; size < 40; size += 1) {
      const reader = new ResponseReader({ onStatus: () => undefined, isStrict: true });
      const all = Buffer.from(ANSWERS.join(""));
      for (const _one of ANSWERS) reader.expect({ method: "GET", isLast: false });
      for (let at = 0; at < all.length; at += size) {
        const piece = all.subarray(at, at + size);
        expect(reader.push(piece)).toEqual(piece);
      }
      expect(reader.isIdle).toBe(true);
    }
  });

  it("is nothing after the last, which says so once", () => {
    for (const answer of ANSWERS.slice(0, 3)) {
      for (let size = 1; size < 40; size += 1) {
        const reader = new ResponseReader({ onStatus: () => undefined, isStrict: true });
        const all = Buffer.from(answer + ANSWERS[2]);
        reader.expect({ method: "POST", isLast: true });
        let passed = "";
        for (let at = 0; at < all.length; at += size) passed += reader.push(all.subarray(at, at + size)).toString();
        expect(passed.replace("Connection: close\r\n", "")).toBe(answer);
        expect(passed).toMatch(/HTTP\/1.1 20\d [A-Za-z ]+\r\nConnection: close\r\n/);
        expect(reader.isOver).toBe(true);
      }
    }
  });
});

describe("what goes on without an end", { timeout: 30_000 }, () => {
  it("answers of a server that it will answer later end the connection", async () => {
    const later = "HTTP/1.1 102 Processing\r\n\r\n";
    const server = await openServer((socket) => socket.once("data", () => socket.write(later.repeat(10_000))));
    const gate = await openGate({ port: 80, to: server.port });
    closing.push(server.close, gate.close);
    const client = await dial(gate.port);
    client.write(GET);
    expect(await readAll(client)).toMatch(/!/);
    expect((await outcomeOf(gate))?.message).toBe("the server said more than 100 times that it would answer later");
  });

  it("a hundred of them do not", async () => {
    const later = "HTTP/1.1 102 Processing\r\n\r\n".repeat(100);
    const said = `${later}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`;
    const server = await openServer((socket) =>
      socket.on("data", () => socket.write(said)).on("end", () => socket.end()),
    );
    const gate = await openGate({ port: 80, to: server.port });
    closing.push(server.close, gate.close);
    const client = await dial(gate.port);
    client.write(GET);
    client.once("data", () => client.end());
    expect(await readAll(client)).toBe(said);
  });

  it("a head or trailer of too many lines is refused before all of it has come", () => {
    const lines = (count: number) => "a:\r\n".repeat(count);
    const head = (count: number) => `GET / HTTP/1.1\r\n${HOST}${lines(count - 1)}`;
    expect(read(`${head(200)}\r\n`).refused).toBeUndefined();
    expect(read(head(15_000)).refused).toBe("the head of a request has more than 202 lines");
    expect(read(`${head(201)}\r\n`).refused).toBe("the head of a request has more than 202 lines");
    expect(read(`${OPEN}0\r\n${lines(200)}\r\n`).refused).toBeUndefined();
    expect(read(`${OPEN}0\r\n${lines(1000)}`).refused).toBe("a request's trailer has more than 202 lines");
  });

  it("TLS handshakes that come at once have a turn of the loop each", async () => {
    const order: string[] = [];
    const turns = [1, 2, 3].map((number) => turnOfLoop().then(() => order.push(`turn ${number}`)));
    let others = 0;
    const tick = () => {
      others += 1;
      order.push("other");
      if (others < 6) setImmediate(tick);
    };
    setImmediate(tick);
    await Promise.all(turns);
    const between = order
      .join(" ")
      .split(/turn \d/)
      .slice(1, 3);
    expect(between.every((one) => one.includes("other"))).toBe(true);
    expect(order.filter((one) => one !== "other")).toEqual(["turn 1", "turn 2", "turn 3"]);
  });
});

/** A connection whose program takes what its window lets through, and no more. */
function openUnread(): { inside: MuxStream; program: MuxStream } {
  const wireTo = (other: () => MuxStream, credits: boolean): MuxWire => ({
    data: (_id, body, sent) => {
      setImmediate(() => other().receive(body));
      setImmediate(sent);
    },
    end: (_id, sent) => {
      setImmediate(() => other().receiveEnd());
      setImmediate(sent);
    },
    credit: (_id, body) => credits && setImmediate(() => other().receiveCredit(body.readUInt32BE())),
    reset: (_id, reason) => setImmediate(() => other().receiveReset(reason)),
    closed: () => undefined,
  });
  const inside: MuxStream = new MuxStream(
    1,
    wireTo(() => program, true),
  );
  const program: MuxStream = new MuxStream(
    1,
    wireTo(() => inside, false),
  );
  program.on("error", () => undefined);
  return { inside, program };
}

describe("a refusal for a program that does not read", { timeout: 30_000 }, () => {
  /** So much that the program's window has no room for a refusal behind it. */
  const LARGE = 131_000;
  const OK = `HTTP/1.1 200 OK\r\nContent-Length: ${LARGE}\r\n\r\n${"x".repeat(LARGE)}`;
  const authority = createAuthority();

  type Refusing = { tls: "refused" | "opened"; lingerMs: number; session: AbortController; onRefused: () => void };

  /** The gate has the whole of an answer that the program has not, and then refuses a request. */
  async function refuse({ tls, lingerMs, session, onRefused }: Refusing): Promise<unknown> {
    const { certify, certificate } = await authority;
    const onSocket = (socket: Duplex) => socket.on("error", () => undefined).once("data", () => socket.write(OK));
    const server = tls === "opened" ? createTlsServer(await certify("allowed.test"), onSocket) : createServer(onSocket);
    closing.push(await listenOn(server));
    const { inside, program } = openUnread();
    let down = 0;
    const done = createCarry({ lingerMs, authorities: [certificate] })({
      inside,
      ...{ name: "allowed.test", port: 80, signal: session.signal, certify },
      treatment: { protocol: "auto", tls },
      judge: ({ path }) =>
        path === "/a" ? { type: "allow", rule: "a" } : { type: "deny", rule: "a", enableWith: "another path" },
      dial: () => dial(portOf(server)),
      count: (direction, bytes) => {
        if (direction === "down") down += bytes;
      },
      refused: onRefused,
    }).catch((error: unknown) => error);
    const client =
      tls === "opened" ? connectTls({ socket: program, servername: "allowed.test", ca: certificate }) : program;
    client.on("error", () => undefined).resume();
    client.write(GET);
    while (down < LARGE) await new Promise(setImmediate);
    client.write(GET.replace("/a", "/b"));
    return await done;
  }

  it.each(["refused", "opened"] as const)("ends after the time there is to read it (%s)", async (tls) => {
    const session = new AbortController();
    const refusal = await refuse({ tls, lingerMs: 50, session, onRefused: () => undefined });
    expect(refusal).toMatchObject({ verdict: "denied" });
  });

  it.each(["refused", "opened"] as const)("ends with the session (%s)", async (tls) => {
    const session = new AbortController();
    const onRefused = () => setImmediate(() => session.abort());
    expect(await refuse({ tls, lingerMs: 1_000_000, session, onRefused })).toMatchObject({ verdict: "denied" });
  });
});
