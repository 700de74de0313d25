import { describe, expect, it } from "vitest";
import { GateWorld } from "../../support/egress/gate-world.ts";
import { echo, TestServer } from "../../support/egress/servers.ts";
import { TestDialler } from "../../support/egress/test-dialler.ts";

const PUBLIC = "93.184.216.34";
const PLAIN = "network: { allow: [{ host: a.test, protocol: tcp }] }";
const PRIVATE = "network: { allow: [{ host: a.test, protocol: tcp, private: true }] }";

/** Every address leads to a real server, so that only the gate can be what keeps a connection from it. */
async function opened(user: string, answers: ConstructorParameters<typeof TestDialler>[0]) {
  const server = await TestServer.open(echo);
  const everywhere = new Proxy({}, { get: () => server.port });
  const dialler = new TestDialler(answers, everywhere);
  return { server, dialler, world: await GateWorld.open({ policy: { user }, dialler }) };
}

async function saidTo(user: string, answers: readonly string[]): Promise<{ answer: string; dials: string[] }> {
  const { server, dialler, world } = await opened(user, { "a.test": answers });
  await using _server = server;
  await using _world = world;
  return { answer: await world.say("a.test", 443), dials: dialler.dials };
}

describe("a name that leads to an address that is not public", () => {
  const privates = ["127.0.0.1", "::1", "10.0.0.5", "172.17.0.1", "192.168.1.1", "100.64.0.1", "198.18.0.1", "fd12::1"];
  const nevers = ["169.254.169.254", "fd00:ec2::254", "0.0.0.0", "::", "224.0.0.1", "255.255.255.255", "240.0.0.1"];

  it.each([
    ...privates,
    ...nevers,
    "fe80::1",
    "::ffff:10.0.0.5",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "not-an-address",
  ])(
    "N-46 O-NET-03 %s is not dialled",
    async (address) => {
      expect(await saidTo(PLAIN, [address])).toEqual({
        answer: expect.stringMatching(/^!`a\.test` resolves to/),
        dials: [],
      });
      expect(await saidTo(PLAIN, [PUBLIC])).toEqual({ answer: "hello", dials: [`${PUBLIC}:443`] });
    },
    20_000,
  );

  it.each([...privates, "::ffff:10.0.0.5"])("%s is dialled where the rule says `private: true`", async (address) => {
    expect(await saidTo(PRIVATE, [address])).toEqual({ answer: "hello", dials: [`${address}:443`] });
  });

  it.each([...nevers, "fe80::1", "64:ff9b::a9fe:a9fe", "::127.0.0.1", "not-an-address"])(
    "N-43 L-09 %s is not dialled where the rule says `private: true` either",
    async (address) => {
      expect(await saidTo(PRIVATE, [address])).toEqual({
        answer: expect.stringMatching(/^!`a\.test` resolves to/),
        dials: [],
      });
    },
  );

  it.each([
    [[PUBLIC, "127.0.0.1"]],
    [["10.0.0.5", PUBLIC]],
    [[PUBLIC, "2606:4700::1", "169.254.169.254"]],
    [[PUBLIC, "::ffff:127.0.0.1"]],
  ])("N-47 O-NET-03 beside public ones, as %j, is a no to all of them", async (answers) => {
    expect(await saidTo(PLAIN, answers)).toEqual({
      answer: expect.stringMatching(/^!`a\.test` resolves to/),
      dials: [],
    });
  });

  it("N-47 O-NET-03 is refused at the second question, and the address of the first is dialled, not the name", async () => {
    let questions = 0;
    const rebinding = () => (questions++ === 0 ? [PUBLIC] : ["127.0.0.1"]);
    const { server, dialler, world } = await opened(PLAIN, { "a.test": rebinding });
    await using _server = server;
    await using _world = world;
    expect(await world.say("a.test", 443)).toBe("hello");
    expect([questions, dialler.dials]).toEqual([1, [`${PUBLIC}:443`]]);
    expect(await world.say("a.test", 443)).toBe("!`a.test` resolves to an address of this machine's loopback");
    expect(dialler.dials).toEqual([`${PUBLIC}:443`]);
  });

  it("is recorded with the address, and says what a person could write", async () => {
    const { server, world } = await opened(PLAIN, { "a.test": ["10.0.0.5"] });
    await using _server = server;
    await using _world = world;
    await world.say("a.test", 443);
    expect(world.facts).toMatchObject([
      { verdict: "denied", rule_id: "built-in/network.private", address: "10.0.0.5", via: "direct", connection: 1 },
    ]);
    expect(await world.lines()).toEqual([
      "Refused: `a.test:443` (rule `built-in/network.private`): `a.test` resolves to a private address. " +
        "What a person can do: write `{ host: a.test, protocol: tcp, private: true }` in your own `network.allow`, if it is meant",
    ]);
  });

  it("is not dialled when only a rule with a looser treatment admits it publicly", async () => {
    const user = "network: { allow: [{ host: a.test, protocol: tcp }, { host: a.test, private: true }] }";
    expect((await saidTo(user, ["10.0.0.5"])).dials).toEqual([]);
    expect((await saidTo(user, [PUBLIC])).dials).toEqual([`${PUBLIC}:443`]);
  });

  it("is not sent a request that only a rule for public addresses lets through", async () => {
    const user = `network:
  allow:
    - { host: a.test, ports: [80], methods: [GET], private: true }
    - { host: a.test, ports: [80], methods: [POST] }`;
    const request = (method: string) =>
      `${method} / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    const send = async (method: string, address: string) => {
      const { server, dialler, world } = await opened(user, { "a.test": [address] });
      await using _server = server;
      await using _world = world;
      const program = await world.connect("a.test", 80);
      program.on("error", () => undefined).write(request(method));
      await expect.poll(() => world.facts.length > 0, { timeout: 10_000 }).toBe(true);
      program.destroy();
      await world.egress.close();
      return [dialler.dials.length, world.facts.map((fact) => "verdict" in fact && fact.verdict)[0]];
    };
    expect(await send("POST", PUBLIC)).toEqual([1, "allowed"]);
    expect(await send("GET", "10.0.0.5")).toEqual([1, "allowed"]);
    expect(await send("POST", "10.0.0.5")).toEqual([0, "denied"]);
  });
});
