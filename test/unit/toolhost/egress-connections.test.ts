import { once } from "node:events";
import type { Socket } from "node:net";
import { createServer } from "node:net";
import { type Duplex, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { freeAddress, freePort, Inside, readAll } from "../../support/egress-inside.ts";

const [PORT, FORWARD] = [freePort(), freePort()];
const codeOf = (error: { code?: string }): string => error.code ?? "no code";

/** A connection to the one name there is, which has its address already. */
function dialName(inside: Inside): Promise<Socket> {
  return inside.dial(addressOf(inside), PORT);
}

function addressOf(inside: Inside): string {
  return inside.outlet.names.get("web.test")?.address ?? "";
}

/** What comes back for `words`, or why nothing does. */
async function exchange(inside: Inside, words: string): Promise<string> {
  const socket = inside.dialing(addressOf(inside), PORT);
  const answer = readAll(socket).catch(codeOf);
  socket.end(words);
  return answer;
}

async function openNamed(serve: (stream: Duplex) => void): Promise<Inside> {
  const { promises } = await import("node:dns");
  const inside = await Inside.open({ names: { "web.test": [PORT] }, serve });
  const resolver = new promises.Resolver();
  resolver.setServers([inside.dns]);
  await resolver.resolve4("web.test");
  return inside;
}

/** Resolves when `isTrue`, and fails the test by its time limit otherwise. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(5);
}

describe("a connection to a name", () => {
  it("goes to the controller with the name, its port and the call, and bytes go both ways", async () => {
    await using inside = await openNamed((stream) => stream.pipe(stream));
    const socket = await dialName(inside);
    socket.end("hello");
    expect(await readAll(socket)).toBe("hello");
    expect(inside.outlet.connections).toEqual([
      { to: { type: "name", name: "web.test", port: PORT }, by: { callId: "call-1", assumed: false } },
    ]);
  });

  it.skipIf(process.getuid?.() !== 0)(
    "at a usual port that no rule names reaches the controller too, and a program that listens there is no conflict",
    async () => {
      await using inside = await Inside.open({ names: { "web.test": [PORT] }, serve: (stream) => stream.pipe(stream) });
      const server = createServer((socket) => socket.end("its own")).listen(22, addressOf(inside));
      await once(server, "listening");
      const { promises } = await import("node:dns");
      const resolver = new promises.Resolver();
      resolver.setServers([inside.dns]);
      expect(await resolver.resolve4("web.test")).toEqual([addressOf(inside)]);
      const answers = [80, 443, 22].map((port) => {
        const socket = inside.dialing(addressOf(inside), port);
        socket.end("hello");
        return readAll(socket);
      });
      expect(await Promise.all(answers)).toEqual(["hello", "hello", "its own"]);
      expect(inside.outlet.connections.map(({ to }) => to)).toEqual(
        expect.arrayContaining([80, 443].map((port) => ({ type: "name", name: "web.test", port }))),
      );
      const { refused } = await inside.egress.around("true", () =>
        Promise.resolve({ status: "ok", content: [{ type: "text", text: "" }], details: {} }),
      );
      expect(refused?.taken ?? []).toEqual([]);
      server.close();
    },
  );

  it("keeps its first bytes for whoever takes the stream late", async () => {
    let taken: Duplex | undefined;
    await using inside = await openNamed((stream) => {
      taken = stream;
    });
    const socket = await dialName(inside);
    socket.write("first ");
    await until(() => (taken?.readableLength ?? 0) > 0);
    socket.end("second");
    taken?.pipe(taken);
    expect(await readAll(socket)).toBe("first second");
  });

  it("that the program ends can still be answered, and one that the host ends can still be sent to", async () => {
    const got: string[] = [];
    await using inside = await openNamed((stream) => {
      stream.on("data", (bytes: Buffer) => got.push(bytes.toString()));
      stream.on("end", () => stream.end(`all of ${got.join("")}`));
    });
    const socket = await dialName(inside);
    socket.end("request");
    expect(await readAll(socket)).toBe("all of request");

    let received: Promise<string> | undefined;
    await using other = await openNamed((stream) => {
      received = readAll(stream);
      stream.end("greeting");
    });
    const sender = await dialName(other);
    expect(await readAll(sender)).toBe("greeting");
    sender.end("late bytes");
    expect(await received).toBe("late bytes");
  });

  it("that the host refuses is reset, and never looks like an end", async () => {
    await using inside = await openNamed((stream) => void stream.destroy(new Error("refused")));
    expect(await exchange(inside, "hello")).toBe("ECONNRESET");
  });

  it("that the host breaks off in the middle is reset", async () => {
    await using inside = await openNamed((stream) => {
      stream.write("half an ans");
      stream.once("data", () => stream.destroy(new Error("upload limit")));
    });
    const socket = await dialName(inside);
    await once(socket, "readable");
    socket.write("go on");
    expect(await readAll(socket).catch(codeOf)).toBe("ECONNRESET");
  });

  it("that the program resets is reset at the host", async () => {
    let reason: Promise<string> | undefined;
    await using inside = await openNamed((stream) => {
      reason = once(stream, "error").then(([error]) => (error as Error).message);
    });
    const socket = await dialName(inside);
    await until(() => reason !== undefined);
    socket.resetAndDestroy();
    expect(await reason).toMatch(/ECONNRESET|closed the connection/);
  });

  it("whose program takes nothing stops the host's sending after a window, and loses nothing", async () => {
    const total = 16 * 1024 * 1024;
    let sent = 0;
    await using inside = await openNamed((stream) => {
      const block = Buffer.alloc(65_536, "x");
      const source = new Readable({
        read() {
          sent += block.length;
          this.push(sent <= total ? block : null);
        },
      });
      source.pipe(stream);
      stream.resume();
    });
    const socket = await dialName(inside);
    // The kernel's buffers take some megabytes; ours are bounded.
    let before = -1;
    for (; before !== sent; await sleep(200)) before = sent;
    expect(sent).toBeLessThan(total);
    let received = 0;
    for await (const bytes of socket as AsyncIterable<Buffer>) received += bytes.length;
    expect(received).toBe(total);
  });

  it("N-72 200 at once carry each its own bytes, and all are over in the end", async () => {
    await using inside = await openNamed((stream) => stream.pipe(stream));
    const answers = Array.from({ length: 200 }, async (_, index) => {
      const socket = await dialName(inside);
      socket.end(`${index} `.repeat(20_000));
      return (await readAll(socket)) === `${index} `.repeat(20_000);
    });
    expect(await Promise.all(answers)).toEqual(Array(200).fill(true));
  });

  it("beyond 512 open ones is reset at once, and can be made again when one is over", async () => {
    await using inside = await openNamed((stream) => stream.pipe(stream));
    const open: Socket[] = [];
    for (let index = 0; index < 512; index++) open.push(await dialName(inside));
    await until(() => inside.outlet.connections.length === 512);
    expect(await exchange(inside, "one too many")).toBe("ECONNRESET");
    open[0]?.end();
    let answer = "";
    while (answer !== "again") answer = await exchange(inside, "again");
    expect(inside.connection.isOpen).toBe(true);
  }, 60_000);

  it("2,000 opened and reset in a flood leave the channel open and names connected to", async () => {
    await using inside = await openNamed((stream) => stream.pipe(stream));
    for (let round = 0; round < 20; round++) {
      const sockets = Array.from({ length: 100 }, () => inside.dialing(addressOf(inside), PORT));
      const over = sockets.map((socket) => new Promise((resolve) => socket.on("close", resolve)));
      for (const socket of sockets) {
        socket.on("error", () => undefined);
        socket.on("connect", () => socket.resetAndDestroy());
      }
      await Promise.all(over);
    }
    let answer = "";
    while (answer !== "still here") answer = await exchange(inside, "still here");
    expect(inside.connection.isOpen).toBe(true);
  }, 60_000);
});

describe("a forwarded port", () => {
  it("reaches the host by its own address, at both families", async () => {
    const address = freeAddress();
    await using inside = await Inside.open({
      forwards: [FORWARD],
      forwardAt: [address, "::1"],
      serve: (stream) => stream.pipe(stream),
    });
    for (const host of [address, "::1"]) {
      const socket = await inside.dial(host, FORWARD);
      socket.end(host);
      expect(await readAll(socket)).toBe(host);
    }
    expect(inside.outlet.connections.map(({ to }) => to)).toEqual(Array(2).fill({ type: "forward", listen: FORWARD }));
  });

  it("that a program holds is told with the next result, and listened at once it is free", async () => {
    const address = freeAddress();
    const server = createServer().listen(FORWARD, address);
    await once(server, "listening");
    await using inside = await Inside.open({
      forwards: [FORWARD],
      forwardAt: [address],
      serve: (stream) => stream.pipe(stream),
    });
    const nothing = () => Promise.resolve({ status: "ok" as const, content: [TEXT], details: {} });
    expect((await inside.egress.around("", nothing)).refused?.taken).toEqual([
      { name: "localhost", port: FORWARD, process: expect.stringContaining(`(pid ${process.pid})`) },
    ]);
    server.close();
    await once(server, "close");
    expect((await inside.egress.around("", nothing)).refused).toBe(undefined);
    const socket = await inside.dial(address, FORWARD);
    socket.end("free");
    expect(await readAll(socket)).toBe("free");
  });
});

const TEXT = { type: "text" as const, text: "" };
