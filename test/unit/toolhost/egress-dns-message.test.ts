import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildReply, encodeName, parseQuery, RCODE, TYPE } from "../../../src/toolhost/egress/dns-message.ts";
import { holds } from "../../support/property.ts";

type Shape = { flags?: number; counts?: [number, number, number, number]; type?: number; class?: number };

function query(name: Buffer, shape: Shape = {}, rest: Uint8Array = Buffer.alloc(0)): Buffer {
  const { flags = 0x0100, counts = [1, 0, 0, 0], type = TYPE.A, class: klass = 1 } = shape;
  const words = [0x1234, flags, ...counts].map(u16);
  return Buffer.concat([...words, name, u16(type), u16(klass), rest]);
}

function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

function labels(...list: (string | Buffer)[]): Buffer {
  const parts = list.map((label) => Buffer.from(label as string)).map((label) => Buffer.from([label.length, ...label]));
  return Buffer.concat([...parts, Buffer.from([0])]);
}

const OPT = Buffer.from([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]);
const codeOf = (packet: Buffer): number | "question" | "drop" => {
  const parsed = parseQuery(packet);
  return parsed.type === "reply" ? parsed.reply.readUInt16BE(2) & 0xf : parsed.type;
};
const nameOf = (packet: Buffer): string | undefined => {
  const parsed = parseQuery(packet);
  return parsed.type === "question" ? parsed.question.name : undefined;
};

describe("a question of DNS", () => {
  it("is read with its name in lower case and echoed in its own", () => {
    const parsed = parseQuery(query(labels("wEb", "TeSt"), { type: TYPE.AAAA }));
    expect(parsed).toMatchObject({ type: "question", question: { name: "web.test", type: 28 } });
    if (parsed.type !== "question") return;
    const record = { type: TYPE.A, ttlSeconds: 1, data: Buffer.from([127, 77, 0, 1]) };
    const reply = buildReply(parsed.question.echo, { code: RCODE.noError, record });
    expect(reply.toString("latin1")).toContain("\u0003wEb\u0004TeSt\u0000");
    expect(reply.subarray(0, 12)).toEqual(Buffer.from([0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]));
    expect(reply.subarray(-16)).toEqual(Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 77, 0, 1]));
  });

  it("with EDNS gets a reply with EDNS, and another version of it is refused", () => {
    const parsed = parseQuery(query(labels("a"), { counts: [1, 0, 0, 1] }, OPT));
    if (parsed.type !== "question") throw new Error(parsed.type);
    const reply = buildReply(parsed.question.echo, { code: RCODE.nameError });
    expect([reply.readUInt16BE(2) & 0xf, reply.readUInt16BE(10), reply.subarray(-11, -6)]).toEqual([
      3,
      1,
      Buffer.from([0, 0, 41, 4, 208]),
    ]);
    const later: Buffer = Buffer.from(OPT);
    later[6] = 1;
    const refused = parseQuery(query(labels("a"), { counts: [1, 0, 0, 1] }, later));
    if (refused.type !== "reply") throw new Error(refused.type);
    expect([refused.reply.readUInt16BE(2) & 0xf, refused.reply.at(-6)]).toEqual([0, 1]);
  });

  it.each([
    ["fewer bytes than a header", Buffer.alloc(11), "drop"],
    ["a reply", query(labels("a"), { flags: 0x8180 }), "drop"],
    ["no question", query(labels("a"), { counts: [0, 0, 0, 0] }), 1],
    ["two questions", query(labels("a"), { counts: [2, 0, 0, 0] }, labels("b")), 1],
    ["answers in it", query(labels("a"), { counts: [1, 1, 0, 0] }), 1],
    ["an unknown opcode", query(labels("a"), { flags: 0x2800 }), 4],
    ["a cut message", query(labels("a"), { flags: 0x0200 }), 1],
    ["another class", query(labels("a"), { class: 3 }), 5],
    ["a pointer to itself", query(Buffer.from([0xc0, 12])), 1],
    ["a pointer into the header", query(Buffer.from([1, 97, 0xc0, 0])), 1],
    ["a label of an unknown kind", query(Buffer.from([0x41, 97, 0])), 1],
    ["a name of 256 bytes", query(labels(...Array<string>(127).fill("a"), "")), 1],
    ["a name that does not end", query(Buffer.alloc(0)).subarray(0, 12), 1],
    ["bytes after the question", query(labels("a"), {}, Buffer.from([1])), 1],
    ["an option that is longer than the packet", query(labels("a"), { counts: [1, 0, 0, 1] }, OPT.subarray(0, 8)), 1],
  ])("with %s is no question", (_what, packet, code) => {
    expect([codeOf(packet), codeOf(query(labels("a")))]).toEqual([code, "question"]);
  });

  it.each([
    ["a dot in a label", labels("allowed.test"), "allowed\\046test"],
    ["a NUL", labels("allowed.test\0", "evil"), "allowed\\046test\\000.evil"],
    ["a backslash", labels("a\\b"), "a\\092b"],
    ["a line break", labels("a\r\nb"), "a\\013\\010b"],
    ["bytes that are no UTF-8", labels(Buffer.from([0xff, 0x41])), "\\255a"],
  ])("N-28 %s in a name is not taken for another name", (_what, name, shown) => {
    expect(nameOf(query(name))).toBe(shown);
  });

  it("keeps the letters of a name that is UTF-8, for the host to judge", () => {
    expect(nameOf(query(labels("bücher", "TEST")))).toBe("bücher.test");
  });

  it("never makes the parser throw, or a reply longer than 512 bytes, whatever its bytes are", () => {
    const mutated = fc
      .tuple(fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 6 }), fc.nat(60))
      .map(([changes, cut]) => {
        const packet = query(labels("www", "example", "test"), { counts: [1, 0, 0, 1] }, OPT);
        for (const [at, byte] of changes) packet[at % packet.length] = byte;
        return packet.subarray(0, Math.max(0, packet.length - (cut > 40 ? cut - 40 : 0)));
      });
    const bytes = fc.uint8Array({ maxLength: 600 }).map((list) => Buffer.from(list));
    holds(
      fc.property(fc.oneof(mutated, bytes), (packet) => {
        const parsed = parseQuery(packet);
        if (parsed.type === "drop") return;
        const reply =
          parsed.type === "reply"
            ? parsed.reply
            : buildReply(parsed.question.echo, { code: 0, record: { type: 1, ttlSeconds: 1, data: Buffer.alloc(4) } });
        expect(reply.length).toBeLessThanOrEqual(512);
        expect(reply.readUInt16BE(0)).toBe(packet.readUInt16BE(0));
        expect(reply.readUInt16BE(2) & 0x8000).toBe(0x8000);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("a name as data", () => {
  it("is encoded by its labels, and has no form when it is none", () => {
    expect(encodeName("web.test")).toEqual(labels("web", "test"));
    expect(["", "a..b", "a\\b", "é", "a".repeat(64), "a.".repeat(120)].map(encodeName)).toEqual(
      Array(6).fill(undefined),
    );
  });
});
