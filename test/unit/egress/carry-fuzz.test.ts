import { createServer } from "node:http";
import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../../src/egress/carry/authority.ts";
import { dial, listenOn, openGate, openServer, portOf, readAll } from "./carry-fixture.ts";
import { makeHello, recordsOf, serverNames } from "./hello-fixture.ts";
import { REQUEST, read } from "./request-fixture.ts";

const session = await createAuthority();
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const BYTE = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const SEEDS = fc.oneof(
  REQUEST.map(({ text }) => text),
  fc.constant(recordsOf(makeHello([serverNames("allowed.test")]), 30).toString("latin1")),
  fc.constant("SSH-2.0-x\r\n"),
  fc.string({ unit: BYTE, maxLength: 40 }),
);
const CHANGE = fc.record({ at: fc.nat(), put: fc.oneof(fc.constantFrom("\r", "\n", "\r\n", " ", ":", ""), BYTE) });
/** Something a program could send, with a few bytes that are not as they should be. */
const HOSTILE = fc
  .tuple(fc.array(SEEDS, { minLength: 1, maxLength: 3 }), fc.array(CHANGE, { maxLength: 4 }))
  .map(([parts, changes]) =>
    changes.reduce((text, { at, put }) => {
      const place = text.length === 0 ? 0 : at % text.length;
      return text.slice(0, place) + put + text.slice(place + 1);
    }, parts.join("")),
  );

describe("whatever a program sends", { timeout: 30_000 }, () => {
  it.each(["sealed", "refused", "opened"] as const)(
    "N-63 ends in a refusal or an answer, never in another error or a wait (%s)",
    async (tls) => {
      const server = await openServer((socket) =>
        socket.on("data", () => socket.end("HTTP/1.1 200 OK\r\n\r\n")).on("end", () => socket.end()),
      );
      const gate = await openGate({
        to: server.port,
        port: 22,
        tls,
        certify: session.certify,
        options: { headMs: 20, firstBytesMs: 20, lingerMs: 20 },
      });
      closing.push(server.close, gate.close);
      const texts = fc.sample(HOSTILE, 150);
      for (const text of texts) {
        const client = await dial(gate.port);
        client.end(Buffer.from(text, "latin1"));
        await readAll(client);
      }
      // The fixture rejects for anything but a refusal of ours.
      await Promise.all(gate.carried.map(({ done }) => done));
      expect(gate.carried.length).toBe(texts.length);
    },
    60_000,
  );

  it("N-67 what passes is, for a server, the requests that were judged, and no others", async () => {
    const seen: string[] = [];
    const server = createServer((req, res) => {
      seen.push(`${req.method} ${req.url}`);
      req.resume().on("end", () => res.end());
    });
    closing.push(await listenOn(server));
    let passedWhole = 0;
    for (const text of fc.sample(HOSTILE, 300)) {
      const { passed, heads } = read(text);
      if (heads.length === 0) continue;
      seen.length = 0;
      const client = await dial(portOf(server));
      client.end(Buffer.from(passed, "latin1"));
      await readAll(client);
      const methods = seen.map((line) => line.split(" ")[0]);
      expect(methods).toEqual(heads.slice(0, methods.length).map(({ method }) => method));
      if (methods.length === heads.length) passedWhole += 1;
    }
    expect(passedWhole).toBeGreaterThan(5);
  }, 60_000);
});
