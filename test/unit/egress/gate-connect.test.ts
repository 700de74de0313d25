import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { MOST_CONNECTIONS } from "../../../src/egress/egress.ts";
import type { EgressFact } from "../../../src/egress/records.ts";
import { GateWorld, heard } from "../../support/egress/gate-world.ts";
import { echo, TestServer } from "../../support/egress/servers.ts";
import { TestDialler } from "../../support/egress/test-dialler.ts";

const PUBLIC = "93.184.216.34";
const RULE = "user/network.allow[0]";
const tcp = (more = "") => `network: { allow: [{ host: a.test, ports: [443, 22], protocol: tcp${more} }] }`;
const withoutTime = (facts: readonly EgressFact[]) =>
  facts.map((fact) => (fact.type === "egress_end" ? { ...fact, duration_ms: 0 } : fact));
const ended = (world: GateWorld) =>
  expect.poll(() => world.facts.some(({ type }) => type === "egress_end"), { timeout: 10_000 }).toBe(true);

describe("a connection to an admitted name", () => {
  it("goes to the address the name was resolved to, with a record before and one after", async () => {
    await using server = await TestServer.open(echo);
    const dialler = new TestDialler({ "a.test": [PUBLIC] }, { [`${PUBLIC}:443`]: server.port });
    await using world = await GateWorld.open({ policy: { user: tcp() }, dialler });
    expect(await world.say("A.test.", 443, "hello")).toBe("hello");
    await ended(world);
    const common = { connection: 1, call_id: "call_1", assumed: false, host: "a.test", port: 443 };
    const said = { verdict: "allowed", rule_id: RULE, address: PUBLIC, via: "direct", why: null, count: 1 };
    expect(withoutTime(world.facts)).toEqual([
      { type: "egress", ...common, ...said },
      { type: "egress_end", connection: 1, bytes_up: 5, bytes_down: 5, duration_ms: 0, why: null },
    ]);
    expect([dialler.questions, dialler.dials, await world.lines()]).toEqual([["a.test"], [`${PUBLIC}:443`], []]);
  });

  it("is not dialled before its record is written, and not at all when it cannot be", async () => {
    await using server = await TestServer.open(echo);
    const dialler = new TestDialler({ "a.test": [PUBLIC] }, { [PUBLIC]: server.port });
    let isWritten = () => undefined as unknown;
    const record = ({ type }: EgressFact) =>
      type === "egress_end" ? Promise.resolve() : new Promise<void>((resolve) => (isWritten = () => resolve()));
    await using world = await GateWorld.open({ policy: { user: tcp() }, dialler, record });
    const answer = world.say("a.test", 443);
    await expect.poll(() => dialler.questions, { timeout: 10_000 }).toEqual(["a.test"]);
    await new Promise(setImmediate);
    expect(dialler.dials).toEqual([]);
    isWritten();
    expect(await answer).toBe("hello");

    const full = new TestDialler({ "a.test": [PUBLIC] }, { [PUBLIC]: server.port });
    const refusing = { policy: { user: tcp() }, dialler: full, record: () => Promise.reject(new Error("ENOSPC")) };
    await using broken = await GateWorld.open(refusing);
    expect(await broken.say("a.test", 443)).toBe("!it could not be recorded, and what is not recorded is not dialled");
    expect(full.dials).toEqual([]);
  });

  it("N-32 O-NET-05 at a port that no rule names, or to a name nobody looked up, is refused", async () => {
    const dialler = new TestDialler({ "a.test": [PUBLIC] });
    await using world = await GateWorld.open({ policy: { user: tcp() }, dialler });
    const unknown = "!no name was given an address for it";
    expect(await heard(world.connectTo({ type: "name", name: "a.test", port: 443 }))).toBe(unknown);
    expect(await world.say("a.test", 25)).toBe("!no rule admits it");
    expect(await world.say("b.test", 443)).toBe(unknown);
    expect(await heard(world.connectTo({ type: "name", name: "127.0.0.1", port: 443 }))).toBe(unknown);
    expect(await heard(world.connectTo({ type: "name", name: "a.test\0", port: 443 }))).toBe(unknown);
    expect(await heard(world.connectTo({ type: "forward", listen: 443 }))).toBe(unknown);
    expect([dialler.questions, dialler.dials]).toEqual([[], []]);
    await using server = await TestServer.open(echo);
    await using control = await GateWorld.open({
      policy: { user: tcp() },
      dialler: new TestDialler({ "a.test": [PUBLIC] }, { [PUBLIC]: server.port }),
    });
    expect([await control.say("a.test", 22), await control.say("a.test", 25)]).toEqual(["hello", "!no rule admits it"]);
  });

  it("at a port that no rule names is told as that, with the flag for the port, and a deny of the port as a deny", async () => {
    const dialler = new TestDialler({ "a.test": [PUBLIC] });
    const user = "network: { allow: [a.test, d.test], deny: [{ host: d.test, ports: [80] }] }";
    await using world = await GateWorld.open({ policy: { user }, dialler });
    expect([await world.say("a.test", 80), await world.say("d.test", 80)]).toEqual([
      "!no rule admits it",
      "!a rule denies it",
    ]);
    expect(world.facts).toMatchObject([
      { host: "a.test", port: 80, verdict: "denied", rule_id: "user/network.allow" },
      { host: "d.test", port: 80, verdict: "denied", rule_id: "user/network.deny[0]" },
    ]);
    const [line] = await world.lines();
    expect(line).toMatch(
      /`a\.test:80`.*add \{ host: a\.test, ports: \[80\] \} .*`glovebox run --allow-host a\.test:80`$/,
    );
    expect(dialler.dials).toEqual([]);
  });

  it("passes the end of one direction on as that, and every byte of the other afterwards", async () => {
    await using server = await TestServer.open((socket) => {
      socket.resume().on("end", () => {
        socket.write("late ");
        setImmediate(() => socket.end("answer"));
      });
    });
    const dialler = new TestDialler({ "a.test": [PUBLIC] }, { [PUBLIC]: server.port });
    await using world = await GateWorld.open({ policy: { user: tcp() }, dialler });
    expect(await world.say("a.test", 443, "question")).toBe("late answer");
  });

  it("N-70 carries many megabytes each way, whole", async () => {
    await using server = await TestServer.open(echo);
    const dialler = new TestDialler({ "a.test": [PUBLIC] }, { [PUBLIC]: server.port });
    await using world = await GateWorld.open({ policy: { user: tcp() }, dialler });
    const program = await world.connect("a.test", 443);
    const piece = Buffer.alloc(256 * 1024, "x");
    let received = 0;
    program.on("data", (bytes: Buffer) => {
      received += bytes.length;
    });
    for (let sent = 0; sent < 64; sent++) if (!program.write(piece)) await once(program, "drain");
    program.end();
    await once(program, "end");
    await ended(world);
    expect(received).toBe(64 * piece.length);
    expect(world.facts.at(-1)).toMatchObject({ bytes_up: 64 * piece.length, bytes_down: 64 * piece.length });
  });

  it("that fails says why in its record, to the program and to the model", async () => {
    const dialler = new TestDialler({ "a.test": [PUBLIC] });
    await using world = await GateWorld.open({ policy: { user: tcp() }, dialler });
    const why = "nothing listens there (ECONNREFUSED)";
    expect(await world.say("a.test", 443)).toBe(`!${why}`);
    expect(world.facts).toMatchObject([
      { connection: 1, verdict: "allowed", why: null },
      { connection: 1, verdict: "failed", why, address: PUBLIC, via: "direct", rule_id: RULE },
    ]);
    expect(await world.lines()).toEqual([`Not reached: \`a.test:443\`: ${why}`]);
  });

  it("to a name without an address fails, and was never dialled", async () => {
    await using world = await GateWorld.open({ policy: { user: tcp() }, dialler: new TestDialler({}) });
    expect(await world.say("a.test", 443)).toBe("!this machine found no address for `a.test` (ENOTFOUND)");
    expect(world.facts).toMatchObject([{ verdict: "failed", address: null, via: null, count: 1 }]);
  });

  it("that nobody answers is given up after its time, whether names or addresses do not answer", async () => {
    const silent = new TestDialler(
      { "a.test": [PUBLIC], "b.test": () => new Promise(() => undefined) },
      { [PUBLIC]: 0 },
    );
    const user = "network: { allow: [{ host: a.test, protocol: tcp }, { host: b.test, protocol: tcp }] }";
    await using world = await GateWorld.open({ policy: { user }, dialler: silent, connectTimeoutMs: 50 });
    expect(await world.say("a.test", 443)).toBe("!there was no answer within 0.05 seconds");
    expect(await world.say("b.test", 443)).toBe("!there was no answer within 0.05 seconds");
  });

  it("that the program gives up is given up, with a record also when nothing was dialled", async () => {
    const dialler = new TestDialler({ "a.test": () => new Promise(() => undefined) });
    await using world = await GateWorld.open({ policy: { user: tcp() }, dialler });
    const program = await world.connect("a.test", 443);
    await expect.poll(() => dialler.questions.length, { timeout: 10_000 }).toBe(1);
    program.destroy();
    await new Promise(setImmediate);
    await world.egress.close();
    const why = "the program gave it up";
    expect(world.facts).toMatchObject([{ verdict: "failed", rule_id: "user/network.allow[0]", address: null, why }]);
  });

  it("that speaks another protocol is told of the rule as it would be, with its other keys, where that would help", async () => {
    const dialler = new TestDialler({ "a.test": [PUBLIC], "b.test": [PUBLIC] });
    const user =
      "network: { allow: [{ host: a.test, private: true }, { host: b.test, inspect: true, methods: [GET] }] }";
    await using world = await GateWorld.open({ policy: { user }, dialler });
    for (const name of ["a.test", "b.test"]) await world.say(name, 443, "\u0001\u0002");
    const [tcpLine, limited] = await world.lines();
    expect(tcpLine).toMatch(
      /make it `\{ host: a\.test, protocol: tcp, private: true \}` in `network\.allow`; its bytes are then not looked at$/,
    );
    expect(limited).toMatch(/the program must use TLS or HTTP\/1\.1$/);
  });

  it("to which the program says nothing is on record and told, for servers that speak first", async () => {
    const dialler = new TestDialler({ "a.test": [PUBLIC] });
    await using world = await GateWorld.open({ policy: { user: "network: { allow: [a.test] }" }, dialler });
    const program = await world.connect("a.test", 443);
    // The kernel ends it with the program, a moment after the result of its call.
    setTimeout(() => program.end(), 20);
    expect(await world.lines("call_1", {}, false)).toEqual([
      "Not reached: `a.test:443`: the program sent nothing; if the server speaks first, its rule needs `protocol: tcp`",
    ]);
    expect([world.facts.length, dialler.questions]).toEqual([1, []]);
    expect(await heard(program)).toBe("");
  });

  it("ends with the session, with a record that says so", async () => {
    await using server = await TestServer.open(echo);
    const dialler = new TestDialler({ "a.test": [PUBLIC] }, { [PUBLIC]: server.port });
    await using world = await GateWorld.open({ policy: { user: tcp() }, dialler });
    const program = await world.connect("a.test", 443);
    program.write("hello");
    await once(program, "data");
    const end = heard(program);
    await world.egress.close();
    expect([await end, world.facts.at(-1)]).toMatchObject(["!the session ended", { why: "the session ended" }]);
    expect(await heard(world.connectTo({ type: "name", name: "a.test", port: 443 }))).toBe("!the session ended");
    await expect.poll(() => server.sockets.size, { timeout: 10_000 }).toBe(0);
  });

  it(`N-72 is refused while ${MOST_CONNECTIONS} others are open, and let through when one has ended`, async () => {
    await using server = await TestServer.open(echo);
    const dialler = new TestDialler({ "a.test": [PUBLIC] }, { [PUBLIC]: server.port });
    await using world = await GateWorld.open({ policy: { user: tcp() }, dialler });
    await world.connect("a.test", 443);
    const open = Array.from({ length: MOST_CONNECTIONS - 1 }, () =>
      world.connectTo({ type: "name", name: "a.test", port: 443 }),
    );
    const attempts = Array.from({ length: 10_000 }, () => world.say("a.test", 443));
    const answers = new Set(await Promise.all(attempts));
    expect(answers).toEqual(new Set([`!${MOST_CONNECTIONS} connections are open already`]));
    open[0]?.destroy();
    await expect.poll(() => world.say("a.test", 443), { timeout: 10_000 }).toBe("hello");
    await world.lines();
    const denied = world.facts.flatMap((fact) =>
      fact.type === "egress" && fact.verdict === "denied" ? [fact.count] : [],
    );
    expect(denied[0]).toBe(1);
    expect([denied.length, denied.reduce((sum, count) => sum + count, 0) >= 10_000]).toEqual([2, true]);
  }, 60_000);
});

describe("the upload limit", () => {
  it("N-91 ends a connection that sends more to its host, and lets no other one begin", async () => {
    await using server = await TestServer.open(echo);
    const dialler = new TestDialler({ "a.test": [PUBLIC], "b.test": [PUBLIC] }, { [PUBLIC]: server.port });
    const user = `network:
  allow: [{ host: a.test, protocol: tcp }, { host: b.test, protocol: tcp }]
  upload_limit: 1KB`;
    await using world = await GateWorld.open({ policy: { user }, dialler });
    expect(await world.say("a.test", 443, "x".repeat(600))).toBe("x".repeat(600));
    const why = /^!`a\.test` was sent the 10(00|24) bytes that a session may send to one host$/;
    expect(await world.say("a.test", 443, "x".repeat(600))).toMatch(why);
    expect(await world.say("a.test", 443, "x")).toMatch(why);
    expect(await world.say("b.test", 443, "x".repeat(600))).toBe("x".repeat(600));
    await world.egress.close();
    const places = world.facts
      .filter((fact) => "host" in fact && fact.host === "a.test")
      .flatMap((fact) => (fact.type === "egress" ? [[fact.host, fact.verdict, fact.rule_id]] : []));
    expect(places).toEqual([
      ["a.test", "allowed", RULE],
      ["a.test", "allowed", RULE],
      ["a.test", "denied", "user/network.upload_limit"],
      ["a.test", "denied", "user/network.upload_limit"],
    ]);
    const ends = world.facts.filter(({ type }) => type === "egress_end");
    expect(ends).toMatchObject([{ bytes_up: 600 }, { bytes_up: 0, why: expect.stringMatching("was sent the") }, {}]);
  });
});
