import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { holds } from "../../support/property.ts";
import { PIECES, REQUEST, read } from "./request-fixture.ts";

const HOST = "Host: allowed.test\r\n";
const GET = `GET /a HTTP/1.1\r\n${HOST}\r\n`;
const post = (headers: string, body = "") => `POST /a HTTP/1.1\r\n${HOST}${headers}\r\n${body}`;
const chunks = (body: string) => post("Transfer-Encoding: chunked\r\n", body);
const INNER = "GET /inner HTTP/1.1\r\nHost: denied.test\r\n\r\n";

/** What ends, separates or means something in a request. */
const ODD = fc.constantFrom(..."\r\n\u0000\t :;,-0129acdehknu\u0080\u00ff");

describe("requests on a kept connection", { timeout: 30_000 }, () => {
  it("N-67 pass byte for byte, each judged once, however they are cut into pieces", () => {
    const property = fc.property(fc.array(REQUEST, { minLength: 1, maxLength: 5 }), PIECES, (requests, pieces) => {
      const text = requests.map((one) => one.text).join("");
      const { heads, passed, refused } = read(text, pieces);
      expect(refused).toBeUndefined();
      expect(passed === text).toBe(true);
      expect(heads.map(({ method }) => method)).toEqual(requests.map(({ method }) => method));
    });
    holds(property, { numRuns: 500 });
  });

  it("N-67 never throw anything but a refusal, and are judged alike however they are cut, whatever is changed", () => {
    const change = fc.record({ at: fc.nat(2000), put: fc.string({ unit: ODD, maxLength: 3 }) });
    const changes = fc.array(change, { minLength: 1, maxLength: 4 });
    const property = fc.property(
      fc.array(REQUEST, { minLength: 1, maxLength: 3 }),
      changes,
      PIECES,
      (list, cuts, pieces) => {
        let text = list.map((one) => one.text).join("");
        for (const { at, put } of cuts) {
          const place = at % text.length;
          text = text.slice(0, place) + put + text.slice(place + 1);
        }
        const whole = read(text);
        const cut = read(text, pieces);
        expect(cut.heads).toEqual(whole.heads);
        expect(cut.refused === undefined).toBe(whole.refused === undefined);
        expect(text.startsWith(cut.passed)).toBe(true);
      },
    );
    holds(property, { numRuns: 2000 });
  });

  it("are read to the path without query, in every form of target", () => {
    const targets = [
      "/a/b?c",
      "http://allowed.test/a?b",
      "HTTP://ALLOWED.TEST:80/x",
      "http://allowed.test",
      "http://allowed.test?q",
    ];
    const text = targets.map((target) => `GET ${target} HTTP/1.1\r\n${HOST}\r\n`).join("");
    const { heads } = read(`${text}OPTIONS * HTTP/1.1\r\nHost: Allowed.Test:80\r\n\r\n`);
    expect(heads.map(({ path }) => path)).toEqual(["/a/b", "/a", "/x", "/", "/", "*"]);
  });

  it("may have a head just below 64 KiB", () => {
    const text = `GET / HTTP/1.1\r\n${HOST}${"A: ".padEnd(65_000, "b")}\r\n\r\n`;
    expect(read(text)).toMatchObject({ passed: text, refused: undefined });
  });
});

/** Attacks that pass a request by the gate, or a head that servers read in different ways. */
const ATTACKS: [string, string][] = [
  ["N-67 CL and TE together", post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", `0\r\n\r\n${INNER}`)],
  ["N-67 TE and CL together", post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n")],
  ["N-67 CL twice, equal", post("Content-Length: 4\r\nContent-Length: 4\r\n", "abcd")],
  ["N-67 CL twice, unequal", post("Content-Length: 4\r\nContent-Length: 0\r\n", "abcd")],
  ["N-67 CL as a list", post("Content-Length: 4, 4\r\n", "abcd")],
  ["N-67 CL with a sign", post("Content-Length: +4\r\n", "abcd")],
  ["N-67 CL in hex", post("Content-Length: 0x4\r\n", "abcd")],
  ["N-67 CL below zero", post("Content-Length: -1\r\n")],
  ["N-67 CL empty", post("Content-Length: \r\n")],
  ["N-67 CL with a blank inside", post("Content-Length: 1 0\r\n")],
  ["N-67 CL beyond all numbers", post(`Content-Length: ${"9".repeat(30)}\r\n`)],
  ["N-67 CL with an underscore", post("Content_Length: 4\r\n", "abcd")],
  ["N-67 CL that need not arrive", post("Connection: close, Content-Length\r\nContent-Length: 4\r\n", "abcd")],
  ["N-67 TE twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n")],
  ["N-67 TE as a list", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")],
  ["N-67 TE of another coding", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n")],
  ["N-67 TE identity", post("Transfer-Encoding: identity\r\n")],
  ["N-67 TE with quotes", post('Transfer-Encoding: "chunked"\r\n', "0\r\n\r\n")],
  ["N-67 TE with a parameter", post("Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n")],
  ["N-67 TE with a vertical tab", post("Transfer-Encoding: \u000bchunked\r\n", "0\r\n\r\n")],
  ["N-67 TE with a space that is none", post("Transfer-Encoding: chunked\u00a0\r\n", "0\r\n\r\n")],
  ["N-67 TE with a blank before the colon", post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n")],
  ["N-67 TE with an underscore", post("Transfer_Encoding: chunked\r\n", "0\r\n\r\n")],
  ["N-67 TE on a folded line", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n")],
  ["N-67 TE after a bare LF", post("X: a\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")],
  ["N-67 TE after a bare CR", post("X: a\rTransfer-Encoding: chunked\r\n", "0\r\n\r\n")],
  ["N-67 TE in HTTP/1.0", chunks("0\r\n\r\n").replace("HTTP/1.1", "HTTP/1.0")],
  ["N-67 a folded first header line", `GET / HTTP/1.1\r\n ${HOST}\r\n`],
  ["N-67 a head that ends with bare LFs", "GET / HTTP/1.1\nHost: allowed.test\n\n"],
  ["N-67 a NUL in a header", post("X: a\u0000b\r\n")],
  ["N-67 a header without a colon", post("nothing\r\n")],
  ["N-67 a header without a name", post(": value\r\n")],
  ["N-67 a blank in a header's name", post("X Y: value\r\n")],
  ["N-67 a head above 64 KiB", post(`X: ${"a".repeat(66_000)}\r\n`)],
  ["N-67 a head above 64 KiB in many lines", post("X: aaaaaaaaaa\r\n".repeat(5000))],
  ["N-67 a chunk's size that is none", chunks("x\r\n")],
  ["N-67 a chunk's size with 0x", chunks("0x1\r\na\r\n0\r\n\r\n")],
  ["N-67 a chunk's size with a sign", chunks("+1\r\na\r\n0\r\n\r\n")],
  ["N-67 a chunk's size with a blank before it", chunks(" 1\r\na\r\n0\r\n\r\n")],
  ["N-67 a chunk's size with a blank after it", chunks("1 \r\na\r\n0\r\n\r\n")],
  ["N-67 a chunk's size of 64 bits", chunks("10000000000000001\r\na\r\n")],
  ["N-67 an empty chunk's size", chunks("\r\n")],
  ["N-67 a chunk's size that ends with LF", chunks("1\na\r\n0\r\n\r\n")],
  ["N-67 a chunk without an end", chunks("1\r\nab0\r\n\r\n")],
  ["N-67 a chunk that ends with LF", chunks("1\r\na\n0\r\n\r\n")],
  ["N-67 a chunk's extension above 1 KiB", chunks(`1;${"a".repeat(1100)}\r\na\r\n0\r\n\r\n`)],
  ["N-67 a chunk's extension with a line break", chunks("1;a\nb\r\na\r\n0\r\n\r\n")],
  ["N-67 a trailer above 8 KiB", chunks(`0\r\nX: ${"a".repeat(9000)}\r\n\r\n`)],
  ["N-67 a trailer that says a length", chunks("0\r\nContent-Length: 5\r\n\r\n")],
  ["N-67 a trailer that is folded", chunks("0\r\nX: a\r\n b\r\n\r\n")],
  ["N-64 another Host", GET.replace("allowed.test", "denied.test")],
  ["N-64 no Host", "GET / HTTP/1.1\r\n\r\n"],
  ["N-64 no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n"],
  ["N-64 Host twice, equal", `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`],
  ["N-64 Host twice, unequal", `GET / HTTP/1.1\r\n${HOST}Host: denied.test\r\n\r\n`],
  ["N-64 Host with a blank before the colon", GET.replace("Host:", "Host :")],
  ["N-64 Host with another port", GET.replace("allowed.test", "allowed.test:81")],
  ["N-64 Host as a list", GET.replace("allowed.test", "allowed.test, denied.test")],
  ["N-64 Host with a path", GET.replace("allowed.test", "allowed.test/x")],
  ["N-64 Host that need not arrive", post("Connection: Host\r\n")],
  ["N-64 an absolute target for another host", GET.replace("/a", "http://denied.test/")],
  ["N-64 an absolute target by another port", GET.replace("/a", "http://allowed.test:81/")],
  ["N-64 an absolute target of another scheme", GET.replace("/a", "https://allowed.test/")],
  ["N-31 a user in the target", GET.replace("/a", "http://allowed.test@denied.test/")],
  ["N-31 a password in the target", GET.replace("/a", "http://u:p@allowed.test/")],
  ["N-31 a backslash in the target", GET.replace("/a", "http://allowed.test\\@denied.test/")],
  ["N-31 a fragment in the target", GET.replace("/a", "http://denied.test#http://allowed.test/")],
  ["N-31 a user in the Host", GET.replace("Host: ", "Host: x@")],
  ["N-67 a target without a slash", GET.replace("/a", "a")],
  ["N-67 a star for another method than OPTIONS", GET.replace("/a", "*")],
  ["N-67 two blanks in the first line", GET.replace(" /a ", "  /a ")],
  ["N-67 a tab in the first line", GET.replace(" /a ", "\t/a ")],
  ["N-67 a blank in the target", GET.replace("/a", "/a b")],
  ["N-67 an empty first line", `\r\n${GET}`],
  ["N-67 a request of HTTP/0.9", "GET /\r\n"],
  ["N-67 a version nobody knows", GET.replace("HTTP/1.1", "HTTP/1.2")],
  ["N-67 a version in small letters", GET.replace("HTTP/1.1", "http/1.1")],
  ["O-NET-04 CONNECT in small letters", GET.replace("GET /a", "connect allowed.test:80")],
];

describe("what two servers could read in two ways", { timeout: 30_000 }, () => {
  it.each(ATTACKS)(
    "%s is refused, first or later, in pieces of any size, and what it hides never passes",
    (_what, text) => {
      const before = GET + post("Content-Length: 2\r\n", "ok");
      const property = fc.property(PIECES, (pieces) => {
        const { passed, refused } = read(before + text + INNER, pieces);
        expect(refused).toBeTypeOf("string");
        expect(passed.startsWith(before)).toBe(true);
        expect(passed).not.toContain("denied.test");
        expect(read(text, pieces).refused).toBe(refused);
      });
      holds(property, { numRuns: 20 });
    },
  );

  it("is no more than it takes: the same requests without it pass", () => {
    const good =
      GET + post("Content-Length: 4\r\n", "abcd") + chunks("1;a\r\na\r\n0\r\nX: a\r\n\r\n") + GET.replace("1.1", "1.0");
    expect(read(good)).toMatchObject({ passed: good, refused: undefined });
  });
});

describe("where rules are for paths or methods", { timeout: 30_000 }, () => {
  const seeing = { seesMethods: true, seesPaths: true };
  const get = (path: string) => read(`GET ${path} HTTP/1.1\r\n${HOST}\r\n`, undefined, seeing);

  it.each([
    "/",
    "/a/b.c/d",
    "/a-b_c~d",
    "/%C3%A9t%C3%A9",
    "/a%20b",
    "/a?x=%2f/../;",
    "/...",
    "/.well-known/x",
    "/a@1:2",
  ])("N-80 the path %s is plain", (path) => {
    expect(get(path)).toMatchObject({ refused: undefined, heads: [{ path: path.split("?")[0] }] });
  });

  it.each([
    "/public/../secret",
    "/public/./x",
    "/..",
    "/public/..",
    "/public//x",
    "//secret",
    "/%2e%2e/secret",
    "/%2E./x",
    "/a%2fb",
    "/a%5cb",
    "/a\\b",
    "/a%252e",
    "/a;b=c/../x",
    "/a%3bb",
    "/a%00",
    "/a%0a",
    "/a%7f",
    "/%61",
    "/%7e",
    "/%5f",
    "/a%3fb",
    "/a%23",
    "/a%",
    "/a%zz",
    "/\u00e9",
    "/%c0%af",
    "/%e0%80%af",
    "/%ef%bc%8f",
    "/%ef%bc%8e%ef%bc%8e/",
    "/%ff",
  ])("N-80 the path %s is refused", (path) => {
    expect(get(path).refused).toMatch(/^the path .*rules here are for paths$/);
    expect(read(`GET ${path} HTTP/1.1\r\n${HOST}\r\n`).refused).toBeUndefined();
  });

  it.each(["X-HTTP-Method-Override", "x-method-override", "X-HTTP-Method", "X_HTTP_Method_Override"])(
    "N-80 the header %s, which changes the method, is refused",
    (name) => {
      expect(read(post(`${name}: DELETE\r\n`), undefined, seeing).refused).toContain("rules here are for methods");
      expect(read(post(`${name}: DELETE\r\n`)).refused).toBeUndefined();
    },
  );

  it("N-80 a method is judged in the letters it has", () => {
    expect(read(GET.replace("GET", "get"), undefined, seeing).heads).toMatchObject([{ method: "get" }]);
  });
});
