import { describe, expect, it } from "vitest";
import { upstreamProxyFrom } from "../../../src/egress/upstream-proxy.ts";
import { GateWorld, heard } from "../../support/egress/gate-world.ts";
import { echo, TestServer } from "../../support/egress/servers.ts";
import { TestDialler } from "../../support/egress/test-dialler.ts";
import { TestProxy } from "../../support/egress/test-proxy.ts";

const PROXY = "10.9.9.9";
const NAMES = ["a.test", "single", "db.internal", "printer.local", "nas.home.arpa", "metadata.google.internal"];
const USER = `network: { allow: [${NAMES.map((host) => `{ host: ${host}, protocol: tcp }`).join(", ")}] }`;
const SECRET = "user:s3cretpass";
const ENCODED = Buffer.from(SECRET).toString("base64");

/** A gate behind a proxy at a private address of its own, which is the person's business. */
async function behind(proxy: TestProxy, env: Record<string, string> = {}) {
  const dialler = new TestDialler(
    { "proxy.corp": [PROXY], "a.test": ["127.0.0.1"] },
    { [`${PROXY}:3128`]: proxy.port },
  );
  const upstream = upstreamProxyFrom({ HTTPS_PROXY: `http://${SECRET}@proxy.corp:3128`, ...env });
  const world = await GateWorld.open({ policy: { user: USER }, dialler, proxy: upstream, connectTimeoutMs: 3000 });
  return { dialler, world };
}

describe("behind a proxy of the person's network", () => {
  it("a connection is a CONNECT with the name, and the name is not resolved here", async () => {
    await using server = await TestServer.open(echo);
    await using proxy = await TestProxy.open({ tunnelTo: server.port });
    const { world, dialler } = await behind(proxy);
    await using _world = world;
    expect(await world.say("a.test", 443)).toBe("hello");
    expect([dialler.questions, dialler.dials]).toEqual([["proxy.corp"], [`${PROXY}:3128`]]);
    expect(proxy.heads).toEqual([
      `CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nProxy-Authorization: Basic ${ENCODED}\r\n\r\n`,
    ]);
    expect(world.facts[0]).toMatchObject({
      verdict: "allowed",
      via: "proxy",
      address: "proxy.corp:3128",
      host: "a.test",
    });
  });

  it("the first bytes of the far end are kept that come with the proxy's answer", async () => {
    await using proxy = await TestProxy.open({ say: "HTTP/1.0 200 OK\r\n\r\nSSH-2.0-first" });
    const { world } = await behind(proxy);
    await using _world = world;
    const program = await world.connect("a.test", 443);
    const [first] = await new Promise<[Buffer]>((resolve) => program.once("data", (bytes: Buffer) => resolve([bytes])));
    expect(first.toString()).toBe("SSH-2.0-first");
  });

  it.each(NAMES.slice(1))(
    "N-42 N-43 %s means something in that network only, and no proxy is led there",
    async (name) => {
      await using proxy = await TestProxy.open({ say: "HTTP/1.1 200 OK\r\n\r\nreached" });
      const { world, dialler } = await behind(proxy);
      await using _world = world;
      expect(await world.say(name, 443)).toBe(
        `!\`${name}\` is a name of your own network, which no proxy is asked for`,
      );
      expect([proxy.heads, dialler.questions]).toEqual([[], []]);
      expect(world.facts).toMatchObject([{ verdict: "denied", rule_id: "built-in/network.proxy", via: "proxy" }]);
      await world.connect("a.test", 443);
      await expect.poll(() => proxy.heads.length, { timeout: 10_000 }).toBe(1);
    },
  );

  it("a name of NO_PROXY is dialled directly, with every check of its addresses", async () => {
    await using proxy = await TestProxy.open({ say: "HTTP/1.1 200 OK\r\n\r\nreached" });
    const { world, dialler } = await behind(proxy, { NO_PROXY: "a.test" });
    await using _world = world;
    expect(await world.say("a.test", 443)).toBe("!`a.test` resolves to an address of this machine's loopback");
    expect([proxy.heads, dialler.questions, dialler.dials]).toEqual([[], ["a.test"], []]);
  });

  it.each([
    [
      "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
      "your proxy asks for a user and password (407): put them into its address",
    ],
    [`HTTP/1.1 403 ${ENCODED}\r\nX: ${SECRET}\r\n\r\n`, "your proxy refused to connect to `a.test:443` (403)"],
    ["HTTP/1.1 502 Bad Gateway\r\n\r\n", "your proxy refused to connect to `a.test:443` (502)"],
    ["HTTP/1.1 100 Continue\r\n\r\n", "your proxy refused to connect to `a.test:443` (100)"],
    ["SSH-2.0-OpenSSH\r\n", "your proxy answered with something that is no HTTP answer"],
    ["HTTP/1.1 abc\r\n\r\n", "your proxy answered with something that is no HTTP answer"],
    ["HTTP/2 200\r\n\r\n", "your proxy answered with something that is no HTTP answer"],
    [`HTTP/1.1 200 OK\r\nX: ${"x".repeat(17 * 1024)}`, "your proxy answered with something that is no HTTP answer"],
  ])("N-51 the answer number %# fails in words, without the proxy's credentials anywhere", async (say, why) => {
    await using proxy = await TestProxy.open({ say });
    const { world } = await behind(proxy);
    await using _world = world;
    expect(await world.say("a.test", 443)).toBe(`!${why}`);
    const lines = await world.lines();
    expect(lines).toEqual([`Not reached: \`a.test:443\`: ${why}`]);
    expect(JSON.stringify([world.facts, lines])).not.toMatch(new RegExp(`s3cretpass|${ENCODED}`));
    expect(world.facts).toMatchObject([{ verdict: "allowed" }, { verdict: "failed", why }]);
  });

  it("a proxy that says nothing, closes, or is not there is given up in time", async () => {
    await using silent = await TestProxy.open({ say: "" });
    const slow = await behind(silent);
    await using _slow = slow.world;
    expect(await slow.world.say("a.test", 443)).toBe("!there was no answer within 3 seconds");
    const gone = await behind(silent, { HTTPS_PROXY: `http://${SECRET}@proxy.corp:1` });
    await using _gone = gone.world;
    expect(await gone.world.say("a.test", 443)).toBe("!your proxy cannot be reached (ECONNREFUSED)");
    const unknown = await behind(silent, { HTTPS_PROXY: `http://${SECRET}@nowhere.corp:1` });
    await using _unknown = unknown.world;
    expect(await unknown.world.say("a.test", 443)).toBe("!your proxy cannot be reached (ENOTFOUND)");
  }, 20_000);
});

describe("a forwarded port", () => {
  const user = `network:
  allow: [{ host: a.test, protocol: tcp }]
  forward: [{ listen: 5433, to: "127.0.0.1:5432" }, { listen: 6380, to: "db.lan:6379" }]`;

  it("reaches its service, wherever that is, with bytes that nobody looks at", async () => {
    await using server = await TestServer.open((socket) => {
      socket.write("server first;");
      echo(socket);
    });
    const dialler = new TestDialler(
      { "db.lan": ["10.0.0.7"] },
      { "127.0.0.1:5432": server.port, "10.0.0.7:6379": server.port },
    );
    await using world = await GateWorld.open({ policy: { user }, dialler });
    expect(world.egress.forwards.toSorted()).toEqual([5433, 6380]);
    for (const listen of [5433, 6380]) {
      const program = world.connectTo({ type: "forward", listen });
      const [first] = await new Promise<[Buffer]>((resolve) =>
        program.once("data", (bytes: Buffer) => resolve([bytes])),
      );
      expect(first.toString()).toBe("server first;");
      program.destroy();
    }
    await world.egress.close();
    expect(world.facts.filter(({ type }) => type === "egress")).toMatchObject([
      { host: "127.0.0.1", port: 5432, via: "forward", address: "127.0.0.1", rule_id: "user/network.forward[0]" },
      { host: "db.lan", port: 6379, via: "forward", address: "10.0.0.7", rule_id: "user/network.forward[1]" },
    ]);
  });

  it("that is refused or not reached is told by the port that the program used, with its service", async () => {
    const asking = { user: `${user}\napproval: { net: ask }` };
    await using world = await GateWorld.open({ policy: asking, dialler: new TestDialler({}) });
    await heard(world.connectTo({ type: "forward", listen: 5433 }));
    const [line] = await world.lines();
    expect(line).toMatch(/^Refused: `127\.0\.0\.1:5433` .*: nobody was there .*; it leads to 127\.0\.0\.1:5432\. /);
    expect(world.facts.filter(({ type }) => type === "egress")).toMatchObject([{ host: "127.0.0.1", port: 5433 }]);
    await using down = await GateWorld.open({ policy: { user }, dialler: new TestDialler({}) });
    await heard(down.connectTo({ type: "forward", listen: 6380 }));
    expect(await down.lines()).toEqual([
      "Not reached: `127.0.0.1:6380`: this machine found no address for `db.lan` (ENOTFOUND); it leads to db.lan:6379",
    ]);
  });

  it("is none where `approval` says that connections are off", async () => {
    const policy = { user: `${user}\napproval: { net: deny }` };
    await using world = await GateWorld.open({ policy, dialler: new TestDialler({}) });
    expect(world.egress.forwards).toEqual([]);
  });
});
