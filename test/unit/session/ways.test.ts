import { describe, expect, it } from "vitest";
import { waysOf } from "../../../src/session/ways.ts";
import { policyFrom } from "../../support/policy-of.ts";

describe("the ways out of a session", () => {
  const env = { ALL_PROXY: "socks5://127.0.0.1:1080" };

  it("do not look at a proxy that cannot be used while no host is admitted", async () => {
    expect(waysOf({ env }, await policyFrom({})).proxy).toBe(undefined);
  });

  it("need one that can be used where a host is admitted", async () => {
    const policy = await policyFrom({ user: "network: { ask: [example.com] }" });
    expect(() => waysOf({ env }, policy)).toThrow("names a SOCKS proxy");
    expect(waysOf({ env: { HTTPS_PROXY: "http://proxy.test:3128" } }, policy).proxy?.host).toBe("proxy.test");
  });
});
