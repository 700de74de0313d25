import { createSocket } from "node:dgram";
import { promises as dns } from "node:dns";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { Names } from "../../../src/toolhost/egress/names.ts";
import { freePort, Inside, readAll } from "../../support/egress-inside.ts";

const BY_CALL_1 = { callId: "call-1", assumed: false };

function resolverOf(inside: Inside, tries = 1): dns.Resolver {
  const resolver = new dns.Resolver({ timeout: tries === 1 ? 10_000 : 500, tries });
  resolver.setServers([inside.dns]);
  return resolver;
}

const codeOf = (error: { code?: string }): string => error.code ?? "no code";

/** A question over UDP for `name` with this id, as bytes. */
function question(id: number, name: string, type = 1): Buffer {
  const labels = name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return Buffer.concat([
    Buffer.from([id >> 8, id & 0xff, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    ...labels,
    Buffer.from([0, 0, type, 0, 1]),
  ]);
}

describe("names inside the container", () => {
  it("N-01 a name that nobody admits has no address, and one that is admitted has", async () => {
    await using inside = await Inside.open({ names: { "web.test": [freePort()] } });
    const resolver = resolverOf(inside);
    const address = inside.outlet.names.get("web.test")?.address;
    expect(await resolver.resolve4("web.test", { ttl: true })).toEqual([{ address, ttl: 1 }]);
    expect(await resolver.resolve4("denied.test").catch(codeOf)).toBe("ENOTFOUND");
    expect(inside.outlet.lookups).toEqual([
      { name: "web.test", by: BY_CALL_1 },
      { name: "denied.test", by: BY_CALL_1 },
    ]);
  });

  it("have no addresses of IPv6: none yet for admitted ones, no name for the rest", async () => {
    await using inside = await Inside.open({ names: { "web.test": [] } });
    const resolver = resolverOf(inside);
    expect(await resolver.resolve6("web.test").catch(codeOf)).toBe("ENODATA");
    expect(await resolver.resolve6("denied.test").catch(codeOf)).toBe("ENOTFOUND");
  });

  it("N-12 TXT, MX, SRV and ANY are counted and never asked outside, A is", async () => {
    await using inside = await Inside.open({ names: { "web.test": [] } });
    const resolver = resolverOf(inside);
    const { refused } = await inside.egress.around("", async () => {
      await resolver.resolve4("web.test");
      const codes = await Promise.all([
        resolver.resolveTxt("secret-in-a-label.evil.test").catch(codeOf),
        resolver.resolveMx("web.test").catch(codeOf),
        resolver.resolveSrv("_x._tcp.web.test").catch(codeOf),
        resolver.resolveAny("web.test").catch(codeOf),
        resolver.resolveSrv("_http._tcp.web.test").catch(codeOf),
      ]);
      expect(codes).toEqual(["ENOTFOUND", "ENODATA", "ENOTFOUND", "ENODATA", "ENOTFOUND"]);
      return { status: "ok", content: [{ type: "text", text: "" }], details: {} };
    });
    // Of a name with an address the other questions came to nothing that anybody misses.
    expect(refused).toMatchObject({ other_questions: 2 });
    expect(inside.outlet.lookups.map(({ name }) => name)).toEqual(["web.test"]);
  });

  it("localhost and glovebox are ours, and addresses have the names they stand for", async () => {
    await using inside = await Inside.open({ names: { "web.test": [] } });
    const resolver = resolverOf(inside);
    expect(await Promise.all(["localhost", "a.localhost", "glovebox"].map((name) => resolver.resolve4(name)))).toEqual(
      Array(3).fill(["127.0.0.1"]),
    );
    expect(inside.outlet.lookups).toEqual([]);
    const [address = ""] = await resolver.resolve4("web.test");
    expect([await resolver.reverse(address), await resolver.resolvePtr("1.0.0.127.in-addr.arpa")]).toEqual([
      ["web.test"],
      ["localhost"],
    ]);
    expect(await resolver.reverse("192.0.2.1").catch(codeOf)).toBe("ENOTFOUND");
  });

  it("that are admitted are asked outside once", async () => {
    const sent: number[] = [];
    const names = new Names({ send: ({ id }) => void sent.push(id), listen: () => Promise.resolve(true) });
    const lookup = () => names.lookup("web.test", () => ({ call: null, assumed: false }));
    const verdicts = Array.from({ length: 20 }, lookup);
    names.settle({ type: "named", id: sent[0] ?? 0, admitted: { address: "127.77.0.1", ports: [] } });
    expect(await Promise.all(verdicts)).toEqual(Array(20).fill({ type: "admitted", address: "127.77.0.1" }));
    expect(await lookup()).toEqual({ type: "admitted", address: "127.77.0.1" });
    expect(sent.length).toBe(1);
  });

  it("that are refused are asked outside each time, and a flood of them is cut off", async () => {
    let sent = 0;
    const names: Names = new Names({
      send: ({ id }) => {
        sent++;
        names.settle({ type: "named", id });
      },
      listen: () => Promise.resolve(true),
    });
    const by = () => ({ call: null, assumed: false });
    const first = [await names.lookup("evil.test", by), await names.lookup("evil.test", by), sent];
    expect(first).toEqual([{ type: "refused" }, { type: "refused" }, 2]);
    for (let index = 0; index < 20_000; index++) await names.lookup(`n${index}.test`, by);
    expect(sent).toBeLessThan(10_000);
  });

  it("a flood of names has 64 waiting outside, and the rest is told at once that it failed", async () => {
    const sent: number[] = [];
    const names = new Names({ send: ({ id }) => void sent.push(id), listen: () => Promise.resolve(true) });
    const by = () => ({ call: null, assumed: false });
    const verdicts = Array.from({ length: 1000 }, (_, index) => names.lookup(`n${index}.test`, by));
    expect(sent.length).toBe(64);
    expect(await Promise.all(verdicts.slice(64))).toEqual(Array(936).fill({ type: "failed" }));
    for (const id of sent) names.settle({ type: "named", id });
    expect(await Promise.all(verdicts.slice(0, 64))).toEqual(Array(64).fill({ type: "refused" }));
    void names.lookup("after.test", by);
    expect(sent.length).toBe(65);
  });

  it("512 names have addresses in a session; a name more has none, the old ones still do", async () => {
    const names: Names = new Names({
      send: ({ id }) => names.settle({ type: "named", id, admitted: { address: `127.77.1.${id % 250}`, ports: [] } }),
      listen: () => Promise.resolve(true),
    });
    const by = () => ({ call: null, assumed: false });
    const types = [];
    for (let index = 0; index < 513; index++) types.push((await names.lookup(`n${index}.test`, by)).type);
    expect(types).toEqual([...Array(512).fill("admitted"), "failed"]);
    expect((await names.lookup("n0.test", by)).type).toBe("admitted");
  });

  it("a flood of packets that are no questions leaves the resolver answering", async () => {
    await using inside = await Inside.open({ names: { "web.test": [] } });
    const [host = "", port = ""] = inside.dns.split(":");
    const socket = createSocket("udp4");
    for (let round = 0; round < 50; round++) {
      const packets = Array.from({ length: 100 }, (_, index) => Buffer.alloc(index, round));
      await Promise.all(packets.map((packet) => new Promise((sent) => socket.send(packet, Number(port), host, sent))));
    }
    socket.close();
    // The kernel drops what comes while its buffer is full, so a program may have to ask again.
    expect((await resolverOf(inside, 20).resolve4("web.test")).length).toBe(1);
  }, 60_000);

  it("are answered over TCP too, one after the other, also when bytes come one at a time", async () => {
    await using inside = await Inside.open({ names: { "web.test": [] } });
    const [host = "", port = ""] = inside.dns.split(":");
    const socket = connect({ host, port: Number(port), allowHalfOpen: true });
    await once(socket, "connect");
    socket.setNoDelay(true);
    const asked = Buffer.concat(
      ["web.test", "denied.test"].flatMap((name, id) => [
        Buffer.from([0, question(id, name).length]),
        question(id, name),
      ]),
    );
    for (const byte of asked) await new Promise((resolve) => socket.write(Buffer.from([byte]), resolve));
    socket.end();
    const replies = Buffer.from(await readAll(socket), "latin1");
    const second = 2 + replies.readUInt16BE(0);
    expect([replies.readUInt16BE(4) & 0xf, replies.readUInt16BE(second + 4) & 0xf]).toEqual([0, 3]);
  });

  it("33 connections for questions are one too many, which is reset, while the others are answered", async () => {
    await using inside = await Inside.open({ names: { "web.test": [] } });
    const [host = "", port = ""] = inside.dns.split(":");
    const idle = await Promise.all(Array.from({ length: 32 }, () => inside.dial(host, Number(port))));
    expect(await readAll(inside.dialing(host, Number(port))).catch(codeOf)).toBe("ECONNRESET");
    const packet = question(7, "web.test");
    const [first] = idle;
    if (first === undefined) throw new Error("no connection");
    first.end(Buffer.concat([Buffer.from([0, packet.length]), packet]));
    expect(Buffer.from(await readAll(first), "latin1").readUInt16BE(2)).toBe(7);
  });

  it("a name whose port a program holds has no address, and the result names the port and the program", async () => {
    const held = freePort();
    await using inside = await Inside.open({ names: { "web.test": [freePort(), held] } });
    const address = inside.outlet.names.get("web.test")?.address ?? "";
    const server = createServer().listen(held, address);
    await once(server, "listening");
    const ask = () =>
      inside.egress.around("", async () => {
        const answer = await resolverOf(inside).resolve4("web.test").catch(codeOf);
        return { status: "ok", content: [{ type: "text", text: String(answer) }], details: {} };
      });
    const first = await ask();
    expect(first.outcome.content).toEqual([{ type: "text", text: "ENOTFOUND" }]);
    expect(first.refused?.taken).toEqual([
      { name: "web.test", port: held, process: expect.stringMatching(`^.+ \\(pid ${process.pid}\\)$`) },
    ]);
    server.close();
    await once(server, "close");
    expect(await ask()).toMatchObject({ outcome: { content: [{ text: address }] } });
  });
});
