import { once } from "node:events";
import { createServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { createAuthority } from "../../../src/egress/carry/authority.ts";
import { Lookups } from "../../../src/egress/dial/lookups.ts";
import { wayToName } from "../../../src/egress/dial/route.ts";
import { dialThroughProxy } from "../../../src/egress/dial/via-proxy.ts";
import { systemDialler } from "../../../src/egress/dialler.ts";
import type { UpstreamProxy } from "../../../src/egress/upstream-proxy.ts";
import { echo, TestServer } from "../../support/egress/servers.ts";
import { TestDialler } from "../../support/egress/test-dialler.ts";

const never = new AbortController().signal;

describe("the resolver and sockets of this machine", () => {
  it("resolve a name to all its addresses, and reject for one without", async () => {
    const dialler = systemDialler();
    expect(await dialler.resolve("localhost", never)).toContain("127.0.0.1");
    await expect(dialler.resolve("no-such-name.invalid", never)).rejects.toMatchObject({ syscall: "getaddrinfo" });
  });

  it("say in words that the name service is silent", async () => {
    const silent = new Lookups(() => new Promise(() => undefined), { patienceMs: 1 });
    const dialler = {
      ...systemDialler(),
      resolve: (name: string, signal: AbortSignal) => silent.resolve(name, signal),
    };
    const asked = { target: { host: "a.test", port: 443 }, whenPrivate: () => undefined };
    const way = wayToName({ dialler, proxy: undefined }, asked, never);
    await expect(way).rejects.toThrow(/^the name service of this machine does not answer$/);
  });

  it("connect to an address, and leave an established connection alone when the signal aborts later", async () => {
    await using server = await TestServer.open(echo);
    const stop = new AbortController();
    const connection = await systemDialler().connect({ address: "127.0.0.1", port: server.port }, stop.signal);
    stop.abort();
    connection.end("hello");
    expect([String((await once(connection, "data"))[0]), connection.errored]).toEqual(["hello", null]);
  });

  it("give up an attempt that is aborted before, and before it begins", async () => {
    const stop = new AbortController();
    // An address for documentation: nothing answers there.
    const attempt = systemDialler().connect({ address: "192.0.2.1", port: 9 }, stop.signal);
    stop.abort(new Error("enough"));
    await expect(attempt).rejects.toThrow();
    await expect(systemDialler().connect({ address: "127.0.0.1", port: 9 }, stop.signal)).rejects.toThrow("enough");
  });
});

describe("a proxy that speaks TLS itself", () => {
  const target = { host: "a.test", port: 443 };

  async function reach(trusted: boolean): Promise<string> {
    const authority = await createAuthority();
    const other = await createAuthority();
    const server = createServer(await authority.certify("proxy.corp"), (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\n\r\nfar end"));
    });
    server.on("tlsClientError", () => undefined).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const dialler = new TestDialler({ "proxy.corp": ["10.9.9.9"] }, { "10.9.9.9": port });
    const proxy: UpstreamProxy = {
      ...{ secure: true, host: "proxy.corp", port: 443, authorization: undefined, exempt: [] },
      certificates: (trusted ? authority : other).certificate,
    };
    try {
      const connection = await dialThroughProxy({ dialler, proxy }, target, AbortSignal.timeout(10_000));
      const [first] = await once(connection, "data");
      connection.destroy();
      return String(first);
    } finally {
      server.close();
    }
  }

  it("is spoken to when its certificate is trusted, and told nothing when it is not", async () => {
    expect(await reach(true)).toBe("far end");
    await expect(reach(false)).rejects.toThrow(
      /^your proxy cannot be reached \(.*(CERT|SIGNATURE|SELF_SIGNED|UNABLE).*\)$/,
    );
  });
});
