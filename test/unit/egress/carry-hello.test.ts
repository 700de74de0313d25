import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ClientHello } from "../../../src/egress/carry/client-hello.ts";
import { HelloReader } from "../../../src/egress/carry/hello-reader.ts";
import { EgressRefusal } from "../../../src/egress/refusal.ts";
import { holds } from "../../support/property.ts";
import { GREASE, helloOf, makeHello, recordsOf, serverNames, vector } from "./hello-fixture.ts";

/** What the reader makes of bytes that come in pieces; the words of the refusal, or undefined for not enough. */
function read(bytes: Buffer, sizes: readonly number[] = [bytes.length]): ClientHello | string | undefined {
  const reader = new HelloReader();
  try {
    for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
      const size = sizes[turn % sizes.length] ?? 1;
      const hello = reader.push(bytes.subarray(at, at + size));
      if (hello) return hello;
      at += size;
    }
    return undefined;
  } catch (error) {
    if (error instanceof EgressRefusal) return error.message;
    throw error;
  }
}

const NAME = serverNames("allowed.test");
const ALPN = { type: 16, data: vector(2, ...["h2", "http/1.1"].map((one) => vector(1, Buffer.from(one)))) };
const PLAIN: ClientHello = { serverName: "allowed.test", protocols: [], hasEncrypted: false };

describe("the hello of a TLS client", { timeout: 30_000 }, () => {
  it("N-73 of a real client is read from records and pieces of any size", async () => {
    const real = await helloOf({ servername: "allowed.test", ALPNProtocols: ["h2", "http/1.1"] });
    const expected = { serverName: "allowed.test", protocols: ["h2", "http/1.1"], hasEncrypted: false };
    const property = fc.property(
      fc.integer({ min: 1, max: 600 }),
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 20 }),
      (fragment, pieces) => {
        expect(read(recordsOf(real, fragment), pieces)).toEqual(expected);
      },
    );
    holds(property, { numRuns: 300 });
  });

  it("N-73 with GREASE, or larger than a record, is read, byte by byte too", () => {
    const large = { type: 21, data: Buffer.alloc(50_000) };
    const hello = makeHello([GREASE, NAME, ALPN, large, { type: 0xfafa, data: Buffer.from([0]) }]);
    const expected = { ...PLAIN, protocols: ["h2", "http/1.1"] };
    expect(read(recordsOf(hello))).toEqual(expected);
    expect(read(recordsOf(hello, 1000), [1])).toEqual(expected);
  });

  it("says nothing before it is whole", () => {
    const bytes = recordsOf(makeHello([NAME]), 50);
    expect(read(bytes.subarray(0, -1), [1])).toBeUndefined();
    expect(read(bytes, [1])).toEqual(PLAIN);
  });

  it("N-61 may lack a name, N-62 may be encrypted: that is told", () => {
    expect(read(recordsOf(makeHello([GREASE])))).toEqual({ ...PLAIN, serverName: undefined });
    const encrypted = { type: 0xfe0d, data: Buffer.alloc(100) };
    expect(read(recordsOf(makeHello([NAME, encrypted])))).toEqual({ ...PLAIN, hasEncrypted: true });
  });

  const valid = makeHello([NAME]);
  const twice = "a hello that is malformed or says something twice";
  it.each([
    ["two extensions that name a host", recordsOf(makeHello([NAME, serverNames("other.test")])), twice],
    ["two names in one extension", recordsOf(makeHello([serverNames("allowed.test", "other.test")])), twice],
    ["an empty name", recordsOf(makeHello([serverNames("")])), twice],
    ["a list of no names", recordsOf(makeHello([{ type: 0, data: Buffer.from([0, 0]) }])), twice],
    ["an empty extension for the name", recordsOf(makeHello([{ type: 0, data: Buffer.alloc(0) }])), twice],
    [
      "bytes after the list of names",
      recordsOf(makeHello([{ type: 0, data: Buffer.concat([NAME.data, Buffer.from("x")]) }])),
      twice,
    ],
    ["a session of 33 bytes", recordsOf(makeHello([NAME], { session: 33 })), twice],
    ["the version of SSLv3", recordsOf(makeHello([NAME], { version: 0x0300 })), twice],
    [
      "a message longer than its parts",
      recordsOf(Buffer.concat([Buffer.from([1, 0, 0, valid.length - 3]), valid.subarray(4), Buffer.from("x")])),
      twice,
    ],
    ["bytes after it in its record", recordsOf(Buffer.concat([valid, Buffer.from("x")])), "bytes after the hello"],
    ["a second message in its record", recordsOf(Buffer.concat([valid, valid])), "bytes after the hello"],
    ["another message", recordsOf(Buffer.from([2, 0, 0, 0])), "a message that is no hello"],
    ["a record without bytes", Buffer.from([22, 3, 1, 0, 0]), "a record of 0 bytes"],
    ["a record above the limit", Buffer.from([22, 3, 1, 0x40, 1]), "a record of 16385 bytes"],
    [
      "a record of another type between",
      Buffer.concat([recordsOf(valid.subarray(0, 9)), Buffer.from([23, 3, 1, 0, 1, 0])]),
      "a record that is none of a hello",
    ],
    ["a record of another major version", Buffer.from([22, 2, 1, 0, 1]), "a record that is none of a hello"],
    ["a length above the limit", recordsOf(Buffer.from([1, 2, 0, 0])), "a hello of 131076 bytes"],
  ])("N-60 with %s is refused, in one piece and byte by byte", (_what, bytes, words) => {
    expect(read(bytes)).toBe(`the TLS handshake begins with ${words}`);
    expect(read(bytes, [1])).toBe(`the TLS handshake begins with ${words}`);
    expect(read(recordsOf(valid))).toEqual(PLAIN);
  });

  it("never throws anything but a refusal, whatever is changed in it", () => {
    const bytes = recordsOf(makeHello([GREASE, NAME, ALPN]), 40);
    const change = fc.record({ at: fc.nat(bytes.length - 1), value: fc.integer({ min: 0, max: 255 }) });
    const property = fc.property(
      fc.array(change, { maxLength: 6 }),
      fc.integer({ min: 1, max: 99 }),
      (changes, size) => {
        const changed = Buffer.from(bytes);
        for (const { at, value } of changes) changed[at] = value;
        expect(read(changed, [size])).toEqual(read(changed));
      },
    );
    holds(property, { numRuns: 2000 });
  });
});
