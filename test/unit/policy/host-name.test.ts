import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ADDRESS_PROBLEM, canonicalHost } from "../../../src/policy/host-name.ts";
import { holds } from "../../support/property.ts";

const CHARACTERS = "has characters that no host name has; expected a name alone, such as `example.com`";
const NO_NAME = "is no host name; expected a name such as `example.com`";
const LONG = "is longer than a host name can be, which is 253 bytes";

describe("the canonical form of a host", () => {
  it.each([
    ["example.com", "example.com"],
    ["EXAMPLE.Com", "example.com"],
    ["example.com.", "example.com"],
    ["a.b.c.example.com", "a.b.c.example.com"],
    ["_acme.foo_bar.example", "_acme.foo_bar.example"],
    ["localhost", "localhost"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["BÜCHER.example。", "xn--bcher-kva.example"],
    ["faß.de", "xn--fa-hia.de"],
    ["ｅｘａｍｐｌｅ.com", "example.com"],
    ["1e3", "1e3"],
    ["3com.example", "3com.example"],
    ["0xcafe.example", "0xcafe.example"],
  ])("of %j is %j", (text, host) => {
    expect(canonicalHost(text)).toEqual({ host });
  });

  it("N-24 N-25 O-NET-01 letters of any case and one dot at the end are the same name, two dots are none", () => {
    expect(canonicalHost("GitHub.COM.")).toEqual(canonicalHost("github.com"));
    expect(canonicalHost("github.com..")).toEqual({ problem: NO_NAME });
    expect(canonicalHost(".")).toEqual({ problem: NO_NAME });
    expect(canonicalHost("")).toEqual({ problem: NO_NAME });
  });

  const addresses = [
    ...["127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "0", "0.", "0.0.0.0", "2130706433", "2852039166"],
    ...["0x7f.1", "0x7f000001", "0xA9FEA9FE", "0X7F.0.0.1", "0x", "a.0x", "0177.0.0.1", "0251.0376.0251.0376"],
    ...["169.254.43518", "1.2.3.4.5", "256.256.256.256", "example.1", "08.08.08.08", "①②⑦.0.0.1", "１２７.１"],
    ...["example.１", "127。0。0。1", "127.0.0.1。", "0ｘ7f.1"],
    ...[
      "::1",
      "[::1]",
      "::ffff:127.0.0.1",
      "[::ffff:127.0.0.1]",
      "64:ff9b::7f00:1",
      "fe80::1%eth0",
      "[fe80::1%25eth0]",
    ],
    ...["::", "2002:7f00:1::", "::127.0.0.1", "：：1"],
  ];
  it.each(addresses)("N-26 N-27 O-NET-02 %j is an address, however it is written", (text) => {
    expect(canonicalHost(text)).toEqual({ problem: ADDRESS_PROBLEM });
  });

  const strange = [
    ...["a\0.example.com", "example.com\0", "a\rb.com", "a\nb.com", "example.com\r\nHost: evil.test", " example.com"],
    ...["exam ple.com", "a\u00a0b.com", "a\tb.com", "example%2ecom", "example.com%00", "a%00.com", "example.com%"],
    ...["a\x7fb.com", "a\u0085b.com", "exa\ufffdmple.com", "exa\ud800mple.com", "a\u2028b.com"],
  ];
  it.each(strange)("N-28 %j with controls, blanks or escapes is no name", (text) => {
    expect(canonicalHost(text)).toEqual({ problem: CHARACTERS });
  });

  it.each([
    ["a".repeat(64), "has a part of more than 63 bytes between dots, so it is no host name"],
    [`${"a".repeat(64)}.com`, "has a part of more than 63 bytes between dots, so it is no host name"],
    [`${"a".repeat(63)}.`.repeat(4).slice(0, -1), LONG],
    [`${"ü".repeat(60)}.`.repeat(5).slice(0, -1), LONG],
    ["a.".repeat(5000), LONG],
    ["a..b", NO_NAME],
    [".a", NO_NAME],
    ["a‥b", NO_NAME],
  ])("N-29 %j has a part or a length that no name has", (text, problem) => {
    expect(canonicalHost(text)).toEqual({ problem });
  });

  it("N-29 a name of 253 bytes with parts of 63 is one", () => {
    const name = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`;
    expect(name.length).toBe(253);
    expect(canonicalHost(`${name}.`)).toEqual({ host: name });
    expect(canonicalHost(`${name}d`)).toEqual({ problem: LONG });
  });

  it("N-30 a look-alike of other letters is another name, shown in its A-labels", () => {
    expect(canonicalHost("аррӏе.com")).toEqual({ host: "xn--80ak6aa92e.com" });
    expect(canonicalHost("gıthub.com")).toEqual({ host: "xn--gthub-n4a.com" });
    expect(canonicalHost("xn--80ak6aa92e.com")).toEqual({ host: "xn--80ak6aa92e.com" });
  });

  it.each(["exam\u200bple.com", "exam\u00adple.com", "a\u200d.com", "a\ufe0f.com", "\ufeffa.com", "a\u202eb.com"])(
    "N-30 %j with what cannot be seen is no name",
    (text) => {
      expect(canonicalHost(text)).toEqual({ problem: CHARACTERS });
    },
  );

  it.each(["xn--a", "xn--.com", "a.xn--99999999.com", "-a.com", "a-.com", "--help", "-oProxyCommand"])(
    "N-30 %j is broken punycode, or a part that begins or ends with a dash",
    (text) => {
      expect(canonicalHost(text)).toEqual({ problem: NO_NAME });
    },
  );

  const parts = ["allowed.test@evil.test", "allowed.test\\evil.test", "allowed.test#evil.test", "allowed.test?x"];
  it.each([...parts, "allowed.test/x", "allowed.test:22", "*.test", "a,b", "a;b", "$(a)", "a`b", "[a]", "a&b"])(
    "N-31 %j with what ends or splits a host in a URL or a shell is no name",
    (text) => {
      expect(canonicalHost(text)).toEqual({ problem: CHARACTERS });
    },
  );

  it("is its own canonical form, whatever it was made of", () => {
    holds(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.domain(), fc.webAuthority()), (text) => {
        const made = canonicalHost(text);
        if (!("host" in made)) return;
        expect(canonicalHost(made.host)).toEqual(made);
        expect(made.host).toMatch(/^(?=.{1,253}$)[a-z\d_-]{1,63}(\.[a-z\d_-]{1,63})*$/);
      }),
      {},
    );
  });
});
