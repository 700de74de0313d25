import { describe, expect, it } from "vitest";
import { encodeFrame, type Frame, FrameReader, MAX_BODY_BYTES } from "../../src/protocol/frames.ts";

const sample = Buffer.concat([
  encodeFrame("message", 0, Buffer.from('{"type":"ready"}')),
  encodeFrame("data", 7, Buffer.from("€uro-ß-漢字")),
  encodeFrame("end", 7, Buffer.alloc(0)),
  encodeFrame("data", 8, Buffer.alloc(70_000, 1)),
]);

function readIn(pieceBytes: number): Frame[] {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  for (let at = 0; at < sample.length; at += pieceBytes)
    frames.push(...reader.push(sample.subarray(at, at + pieceBytes)));
  return frames;
}

describe("frames", () => {
  it.each([1, 2, 3, 8, 9, 10, 32_768, sample.length])("come out whole when read %i bytes at a time", (pieceBytes) => {
    expect(readIn(pieceBytes)).toEqual([
      { kind: "message", stream: 0, body: Buffer.from('{"type":"ready"}') },
      { kind: "data", stream: 7, body: Buffer.from("€uro-ß-漢字") },
      { kind: "end", stream: 7, body: Buffer.alloc(0) },
      { kind: "data", stream: 8, body: Buffer.alloc(70_000, 1) },
    ]);
  });

  it.each([
    ["an unknown kind", Buffer.from([0, 0, 0, 5, 99, 0, 0, 0, 0]), "A frame of the unknown kind 99 came"],
    [
      "a length below the header's",
      Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0]),
      "A message frame says it is -1 bytes long",
    ],
    [
      "a length above the limit",
      Buffer.from([0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 1]),
      "A data frame says it is 4294967290 bytes long",
    ],
  ])("refuse %s as soon as the header is seen", (_, bytes, message) => {
    expect(() => new FrameReader().push(bytes)).toThrow(message);
  });

  it("are not made above the limit", () => {
    expect(() => encodeFrame("data", 1, Buffer.alloc(MAX_BODY_BYTES + 1))).toThrow("too large");
  });
});
