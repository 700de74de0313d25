import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { GloveboxError } from "../../../src/core/errors.ts";
import { isExempt, upstreamProxyFrom } from "../../../src/egress/upstream-proxy.ts";

const broken = (env: Record<string, string>): GloveboxError => {
  try {
    upstreamProxyFrom(env);
  } catch (error) {
    if (error instanceof GloveboxError) return error;
  }
  throw new Error("no error");
};

describe("the proxy of a person's network", () => {
  it.each([
    [{ HTTPS_PROXY: "http://proxy.test:3128" }, { secure: false, host: "proxy.test", port: 3128 }],
    [{ https_proxy: "proxy.test:3128" }, { secure: false, host: "proxy.test", port: 3128 }],
    [{ HTTPS_PROXY: "https://proxy.test" }, { secure: true, host: "proxy.test", port: 443 }],
    [{ ALL_PROXY: " http://proxy.test/ " }, { secure: false, host: "proxy.test", port: 80 }],
    [{ all_proxy: "http://[::1]:8080" }, { secure: false, host: "::1", port: 8080 }],
    [{ HTTPS_PROXY: "http://upper.test", https_proxy: "http://lower.test" }, { host: "lower.test" }],
    [{ https_proxy: "", HTTPS_PROXY: "http://upper.test" }, { host: "upper.test" }],
  ])("of %j is %j", (env, expected) => {
    expect(upstreamProxyFrom(env)).toMatchObject({ ...expected, authorization: undefined, exempt: [] });
  });

  it("is none where no variable names one; those for plain HTTP are not asked", () => {
    expect(upstreamProxyFrom({ HTTP_PROXY: "http://proxy.test", HTTPS_PROXY: " " })).toBe(undefined);
  });

  it("N-51 has credentials that no print of it shows", () => {
    const proxy = upstreamProxyFrom({ HTTPS_PROXY: "http://us%40er:pa%3Ass@proxy.test:3128" });
    expect(proxy?.authorization?.reveal()).toBe(`Basic ${Buffer.from("us@er:pa:ss").toString("base64")}`);
    const prints = [inspect(proxy, { depth: 9 }), JSON.stringify(proxy), String(proxy?.authorization)].join();
    expect(prints).not.toMatch(/us@er|us%40er|pa:ss|pa%3Ass|dXNAZXI6/);
  });

  it.each([
    ["http://user:secret@", "is no address of a proxy"],
    ["http://user:secret@proxy:port", "is no address of a proxy"],
    ["http://user:sec ret@bad host", "is no address of a proxy"],
    ["socks5://user:secret@proxy.test:1080", "names a SOCKS proxy, which is not spoken here"],
    ["ftp://user:secret@proxy.test", "is no address of an HTTP proxy"],
    ["http://user:sec%zzret@proxy.test", "has a user or password with a `%` that is no escape"],
  ])("N-51 %j is refused in words that have nothing of it", (HTTPS_PROXY, problem) => {
    const error = broken({ HTTPS_PROXY });
    expect([error.code, error.message]).toEqual([
      "CONFIG_INVALID",
      `\`HTTPS_PROXY\` ${problem}; expected such as \`http://proxy.example.com:3128\``,
    ]);
    expect(inspect(error)).not.toMatch(/secret|sec ret|sec%zz|user:/);
  });

  it.each([
    ["example.com", "example.com", 443, true],
    ["example.com", "a.b.example.com", 443, true],
    ["example.com", "notexample.com", 443, false],
    [".example.com", "a.example.com", 443, true],
    ["*.example.com", "a.example.com", 443, true],
    ["Example.COM.", "example.com", 443, true],
    ["example.com:8443", "example.com", 8443, true],
    ["example.com:8443", "example.com", 443, false],
    ["*", "anything.test", 22, true],
    ["a.test b.test,,c.test", "b.test", 443, true],
    ["a.test b.test,,c.test", "d.test", 443, false],
    ["", "a.test", 443, false],
    ["10.0.0.0/8", "a.test", 443, false],
  ])("is not used, with NO_PROXY %j, for %s at %d: %s", (NO_PROXY, host, port, expected) => {
    const proxy = upstreamProxyFrom({ HTTPS_PROXY: "http://proxy.test", NO_PROXY });
    expect(proxy && isExempt(proxy, { host, port })).toBe(expected);
  });
});
