import { describe, expect, it } from "vitest";
import { MOST_BELOW_WILDCARD, MOST_NAMES } from "../../../src/egress/names.ts";
import { CALL, GateWorld } from "../../support/egress/gate-world.ts";
import { TestDialler } from "../../support/egress/test-dialler.ts";

const USER = `network:
  allow:
    - example.com
    - "*.pkg.test"
    - { host: ports.example.com, ports: [80, 8443] }
    - denied.example.com
  ask: [asked.example.com]
  deny: [denied.example.com, "*.bad.pkg.test"]`;

describe("the question for a name", () => {
  it("is answered with a loopback address of its own, the same for the session, and the ports of its rules", async () => {
    const dialler = new TestDialler({});
    await using world = await GateWorld.open({ policy: { user: USER }, dialler });
    const ask = (name: string) => world.egress.lookup(name, CALL);
    expect(await ask("example.com")).toEqual({ address: "127.77.0.1", ports: [443] });
    expect(await ask("ports.example.com")).toEqual({ address: "127.77.0.2", ports: [80, 8443] });
    expect(await ask("asked.example.com")).toEqual({ address: "127.77.0.3", ports: [443] });
    expect(await ask("EXAMPLE.com.")).toEqual({ address: "127.77.0.1", ports: [443] });
    expect([world.facts, dialler.questions, await world.lines()]).toEqual([[], [], []]);
  });

  it.each([
    ["N-20 a name below one that is allowed", "www.example.com"],
    ["N-21 the name above a wildcard", "pkg.test"],
    ["N-23 a look-alike without the dot", "notexample.com"],
    ["N-23 O-NET-01 a look-alike that goes on", "example.com.evil.test"],
    ["N-23 O-NET-01 a look-alike of a wildcard", "evilpkg.test"],
    ["N-30 letters that look the same", "exаmple.com"],
    ["N-12 data as a name below nothing that is allowed", "c2VjcmV0.evil.test"],
  ])("%s is refused, and nobody outside is asked", async (_title, name) => {
    const dialler = new TestDialler({});
    await using world = await GateWorld.open({ policy: { user: USER }, dialler });
    const control = await world.egress.lookup("example.com", CALL);
    expect([await world.egress.lookup(name, CALL), control?.ports]).toEqual([undefined, [443]]);
    expect([dialler.questions, dialler.dials]).toEqual([[], []]);
    expect(world.facts).toMatchObject([
      { verdict: "denied", port: null, rule_id: "user/network.allow", connection: null },
    ]);
  });

  it.each(["a.pkg.test", "a.b.c.d.pkg.test"])("N-22 %s is below a wildcard at any depth", async (name) => {
    await using world = await GateWorld.open({ policy: { user: USER }, dialler: new TestDialler({}) });
    expect(await world.egress.lookup(name, CALL)).toEqual({ address: "127.77.0.1", ports: [443] });
  });

  it.each(["denied.example.com", "x.bad.pkg.test", "y.x.bad.pkg.test"])(
    "N-33 %s is denied by one rule and allowed by another, which is a no that no flag opens",
    async (name) => {
      await using world = await GateWorld.open({ policy: { user: USER }, dialler: new TestDialler({}) });
      expect(await world.egress.lookup(name, CALL)).toBe(undefined);
      expect(await world.lines()).toEqual([
        expect.stringMatching(
          /^Refused: `[\w.]+` \(rule `user\/network\.deny\[[01]\]`\): a rule denies it\. .*no flag opens it; take the rule/,
        ),
      ]);
    },
  );

  it.each([
    ...["127.0.0.1", "2852039166", "0x7f.1", "[::1]", "①②⑦.0.0.1", "example.com\0", "example.com\r\nx", "a%2ecom"],
    ...["user@example.com", "example.com\\x", "example.com#x", "a..b", "x".repeat(260), ""],
  ])("N-26 N-27 N-28 N-29 N-31 %j is no name, whatever the policy says", async (name) => {
    const dialler = new TestDialler({});
    await using world = await GateWorld.open({ policy: { user: USER }, dialler });
    expect(await world.egress.lookup(name, CALL)).toBe(undefined);
    expect(world.facts).toMatchObject([{ verdict: "denied", rule_id: "built-in/network.names", count: 1 }]);
    expect(JSON.stringify(world.facts)).not.toMatch(/[\0\r\n]/);
    expect(dialler.questions).toEqual([]);
  });

  it("N-01 is refused for every name where nobody has said anything of hosts", async () => {
    for (const policy of [{}, { user: "network: { allow: [] }" }]) {
      await using world = await GateWorld.open({ policy, dialler: new TestDialler({}) });
      expect(await world.egress.lookup("example.com", CALL)).toBe(undefined);
      expect(await world.lines()).toMatchObject(
        [
          /^.*no rule admits it.* add "example.com" to `network.allow`, or copy `glovebox run --allow-host example.com` \(for port 443; `example.com:PORT` admits another\)$/,
        ].map((line) => expect.stringMatching(line)),
      );
    }
  });

  it("says what helps: the flag where the person's word is enough, the other policy where it is not", async () => {
    const policy = { user: "network: { allow: [a.test] }", project: "network: { allow: [a.test] }" };
    await using world = await GateWorld.open({ policy, dialler: new TestDialler({}) });
    await world.egress.lookup("b.test", CALL);
    const [line] = await world.lines();
    expect(line).toMatch(/the policy of `project\/network\.allow`/);
    expect(line).not.toContain("--allow-host");
  });

  it("says that connections are off where `approval` says so, whatever hosts are allowed", async () => {
    const policy = { user: "network: { allow: [a.test] }\napproval: { net: deny }" };
    await using world = await GateWorld.open({ policy, dialler: new TestDialler({}) });
    expect(await world.egress.lookup("a.test", CALL)).toBe(undefined);
    const [line] = await world.lines();
    expect(line).toMatch(/rule `user\/approval.net`\): connections are off\. .*approval: \{ net: allow \}/);
    expect(line).not.toContain("--allow-host");
  });

  it("says nothing but that connections are off also of a host that no rule admits, and of what is connected to", async () => {
    const policy = { user: "network: { allow: [a.test] }\napproval: { net: deny }" };
    await using world = await GateWorld.open({ policy, dialler: new TestDialler({}) });
    expect([await world.say("b.test", 443), await world.say("a.test", 443)]).toEqual(
      Array(2).fill("!connections are off"),
    );
    const lines = await world.lines();
    expect(lines).toHaveLength(4);
    for (const line of lines) {
      expect(line).toMatch(
        /\(rule `user\/approval\.net`\): connections are off\. What a person can do: set `approval: \{ net: allow \}`/,
      );
      expect(line).not.toMatch(/--allow-host|in the policy.*in the policy|PORT/);
    }
  });

  it("names every policy that would have to change, once, where no flag is enough", async () => {
    const policy = { user: "network: { allow: [a.test] }", project: "network: { allow: [a.test] }" };
    await using world = await GateWorld.open({ policy, dialler: new TestDialler({}) });
    await world.egress.lookup("b.test", CALL);
    const [line = ""] = await world.lines();
    expect(line.match(/the policy of `[a-z/.]+`/g)?.toSorted()).toEqual([
      "the policy of `project/network.allow`",
      "the policy of `user/network.allow`",
    ]);
    expect(line).toMatch(/; no flag opens it \(for port 443; `ports: \[PORT\]` admits another\)$/);
  });

  it(`N-12 is answered for ${MOST_BELOW_WILDCARD} names below a wildcard, so that names carry little`, async () => {
    await using world = await GateWorld.open({ policy: { user: USER }, dialler: new TestDialler({}) });
    const ask = (name: string) => world.egress.lookup(name, CALL);
    for (let index = 0; index < MOST_BELOW_WILDCARD; index++) expect(await ask(`n${index}.pkg.test`)).toBeDefined();
    expect(await ask("more.pkg.test")).toBe(undefined);
    expect(await ask("n0.pkg.test")).toEqual({ address: "127.77.0.1", ports: [443] });
    expect(await ask("example.com")).toBeDefined();
    expect(world.facts).toMatchObject([
      { host: "more.pkg.test", rule_id: "built-in/network.names", why: expect.stringContaining("`*.pkg.test`") },
    ]);
  });

  it(`is answered for ${MOST_NAMES} names in all, each with another address`, async () => {
    const names = Array.from({ length: MOST_NAMES + 1 }, (_, index) => `n${index}.test`);
    const user = `network: { allow: [${names.join(", ")}] }`;
    await using world = await GateWorld.open({ policy: { user }, dialler: new TestDialler({}) });
    const answers = await Promise.all(names.map((name) => world.egress.lookup(name, CALL)));
    expect(new Set(answers.map((answer) => answer?.address)).size).toBe(MOST_NAMES + 1);
    expect(answers.at(-1)).toBe(undefined);
    expect(answers.at(-2)?.address).toBe("127.77.2.0");
  });

  it("10,000 times for names that are refused is a few records and lines, and all of them are counted", async () => {
    await using world = await GateWorld.open({ policy: { user: USER }, dialler: new TestDialler({}) });
    for (let index = 0; index < 5000; index++) await world.egress.lookup("same.test", CALL);
    for (let index = 0; index < 5000; index++) await world.egress.lookup(`n${index}.test`, CALL);
    const lines = await world.lines();
    const counts = world.facts.map((fact) => (fact.type === "egress" ? fact.count : 0));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(10_000);
    expect(world.facts.length).toBeLessThan(300);
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([
      8,
      expect.stringContaining("`same.test`, 5000 times"),
      "4994 more connections or names came to nothing",
    ]);
    expect(await world.lines()).toEqual([]);
  });
});
