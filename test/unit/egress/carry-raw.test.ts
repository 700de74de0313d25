import { once } from "node:events";
import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { EgressRefusal } from "../../../src/egress/refusal.ts";
import { dial, type GateOptions, openGate, openServer, outcomeOf, readAll } from "./carry-fixture.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serve(onConnection: Parameters<typeof openServer>[0]) {
  const server = await openServer(onConnection);
  closing.push(server.close);
  return server;
}

async function gateTo(server: { port: number }, more: GateOptions = {}) {
  const gate = await openGate({ protocol: "tcp", to: server.port, ...more });
  closing.push(gate.close);
  return gate;
}

describe("bytes of `protocol: tcp`", { timeout: 30_000 }, () => {
  it("pass both ways as they are, the server's first ones too", async () => {
    const server = await serve((socket) => socket.write("220 hello\r\n").valueOf() && socket.pipe(socket));
    const gate = await gateTo(server);
    const client = await dial(gate.port);
    client.end(Buffer.from([0, 255, 10, 13]));
    expect(await readAll(client)).toBe("220 hello\r\n\u0000\u00ff\n\r");
    expect(await outcomeOf(gate)).toBeUndefined();
    expect(gate.carried).toMatchObject([{ dials: 1, up: 4, down: 15 }]);
  });

  it("N-69 pass on after one side has finished", async () => {
    const server = await serve((socket) => {
      socket.resume().on("end", () => setImmediate(() => socket.end("after the end")));
    });
    const gate = await gateTo(server);
    const client = await dial(gate.port);
    client.end("all");
    expect(await readAll(client)).toBe("after the end");
    expect(await outcomeOf(gate)).toBeUndefined();
  });

  it("are cut by a reset of the server, which the program sees as one", async () => {
    const server = await serve((socket) => socket.once("data", () => socket.resetAndDestroy()));
    const gate = await gateTo(server);
    const client = await dial(gate.port);
    client.write("x");
    expect(await readAll(client)).toMatch(/^!/);
    expect(await outcomeOf(gate)).toBeUndefined();
  });

  it("are cut by a reset of the program, which the server sees as one", async () => {
    let client: Socket | undefined;
    const seen = new Promise<string>((resolve) => {
      void serve((socket) => {
        resolve(readAll(socket));
        socket.once("data", () => client?.resetAndDestroy());
      }).then(async (server) => {
        client = await dial((await gateTo(server)).port);
        client.write("x");
      });
    });
    expect(await seen).toMatch(/!ECONNRESET$/);
  });

  it("end with the reason when a limit is reached, and the piece above it does not pass", async () => {
    let got = 0;
    const server = await serve((socket) => socket.on("data", (part) => (got += part.length)));
    let up = 0;
    const gate = await gateTo(server, {
      count: (_direction, bytes) => {
        up += bytes;
        if (up > 3) throw new EgressRefusal("above the limit", { rule: "user/x", enable_with: "raise it" });
      },
    });
    const client = await dial(gate.port);
    client.write("abc");
    while (got < 3) await new Promise(setImmediate);
    client.write("def");
    expect(await readAll(client)).toMatch(/^!/);
    expect(await outcomeOf(gate)).toMatchObject({ message: "above the limit", verdict: "denied" });
    expect(got).toBe(3);
  });

  it("end when the session does", async () => {
    const server = await serve((socket) => socket.resume());
    const session = new AbortController();
    const gate = await gateTo(server, { signal: session.signal });
    const client = await dial(gate.port);
    client.write("x");
    while (server.connections === 0) await new Promise(setImmediate);
    session.abort(new EgressRefusal("the session has ended"));
    expect(await readAll(client)).toMatch(/^!/);
    expect((await outcomeOf(gate))?.message).toBe("the session has ended");
  });

  it("end with the reason when nobody answers", async () => {
    const server = await openServer(() => undefined);
    await server.close();
    const gate = await gateTo(server);
    const client = await dial(gate.port);
    expect(await readAll(client)).toMatch(/^!/);
    expect(await outcomeOf(gate)).toMatchObject({ message: "nobody listens there", verdict: "failed" });
  });

  it("wait in the sender when the reader is slow", async () => {
    const server = await serve((socket) => socket.pause());
    const gate = await gateTo(server);
    const client = await dial(gate.port);
    const piece = Buffer.alloc(64 * 1024);
    let sent = 0;
    while (client.write(piece) || (await drained(client))) sent += piece.length;
    expect(gate.carried[0]?.up).toBeLessThanOrEqual(sent + 2 * piece.length);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });
});

/** Whether the stream takes more within a while; a stalled one never does. */
async function drained(stream: NodeJS.EventEmitter): Promise<boolean> {
  const stalled = AbortSignal.timeout(500);
  return await once(stream, "drain", { signal: stalled }).then(
    () => true,
    () => false,
  );
}
