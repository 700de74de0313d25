import * as fc from "fast-check";
import type { Looking, RequestHead } from "../../../src/egress/carry/request-head.ts";
import { RequestReader } from "../../../src/egress/carry/request-reader.ts";
import { EgressRefusal } from "../../../src/egress/refusal.ts";

export const LOOKING: Looking = {
  name: "allowed.test",
  port: 80,
  scheme: "http",
  seesMethods: false,
  seesPaths: false,
};

export type Read = { heads: RequestHead[]; passed: string; refused: string | undefined };

/** What the reader makes of a program's bytes (latin1) that come in pieces of these sizes, over and over. */
export function read(text: string, sizes: readonly number[] = [text.length], looking: Partial<Looking> = {}): Read {
  const heads: RequestHead[] = [];
  const passed: Buffer[] = [];
  const reader = new RequestReader({
    looking: { ...LOOKING, ...looking },
    admit: (head) => heads.push(head),
    pass: (bytes) => passed.push(Buffer.from(bytes)),
  });
  const bytes = Buffer.from(text, "latin1");
  let refused: string | undefined;
  try {
    for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
      const size = sizes[turn % sizes.length] ?? 1;
      reader.push(bytes.subarray(at, at + size));
      at += size;
    }
  } catch (error) {
    if (!(error instanceof EgressRefusal)) throw error;
    refused = error.message;
  }
  return { heads, passed: Buffer.concat(passed).toString("latin1"), refused };
}

export const PIECES = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 12 });

const TOKEN = fc.stringMatching(/^[!#$%&'*+.^`|~\da-zA-Z-]{1,12}$/);
const VALUE = fc.stringMatching(/^[\u0021-\u007e\u0080-\u00ff][\t\u0020-\u007e\u0080-\u00ff]{0,30}$/);
const BYTE = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const BYTES = fc.string({ unit: BYTE, minLength: 1, maxLength: 80 });
const FIELD = fc.tuple(TOKEN, VALUE).map(([name, value]) => `X-${name}: ${value}\r\n`);

const CHUNK = fc
  .tuple(BYTES, fc.constantFrom("", ";a", ";a=b", ' ; a="b"'), fc.constantFrom("", "0", "000"))
  .map(([data, extension, zeros]) => `${zeros}${data.length.toString(16)}${extension}\r\n${data}\r\n`);

const CHUNKS = fc
  .tuple(fc.array(CHUNK, { maxLength: 4 }), fc.array(FIELD, { maxLength: 2 }))
  .map(([chunks, trailer]) => ({
    header: "Transfer-Encoding: chunked\r\n",
    body: `${chunks.join("")}0\r\n${trailer.join("")}\r\n`,
  }));

const LENGTH = BYTES.map((body) => ({ header: `Content-Length: ${body.length}\r\n`, body }));
const NOTHING = fc.constantFrom({ header: "", body: "" }, { header: "Content-Length: 0\r\n", body: "" });

const LINE = fc.tuple(
  fc.constantFrom("GET", "POST", "PUT", "DELETE", "OPTIONS"),
  fc.constantFrom("", "http://allowed.test", "HTTP://Allowed.TEST:80"),
  fc.stringMatching(/^\/[\da-zA-Z/._~%?=&-]{0,20}$/),
);

/** A request that everybody reads in the same way. */
export const REQUEST: fc.Arbitrary<{ text: string; method: string; target: string }> = fc
  .tuple(LINE, fc.array(FIELD, { maxLength: 4 }), fc.oneof(NOTHING, LENGTH, CHUNKS))
  .map(([[method, authority, path], fields, { header, body }]) => ({
    text: `${method} ${authority}${path} HTTP/1.1\r\n${fields.join("")}hOsT:allowed.test \r\n${header}\r\n${body}`,
    method,
    target: `${authority}${path}`,
  }));
