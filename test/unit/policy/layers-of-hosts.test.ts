import { describe, expect, it } from "vitest";
import { allowHostLayer } from "../../../src/policy/allow-host.ts";
import { decideConnection, decideRequest } from "../../../src/policy/decide-connection.ts";
import { type Dropped, droppedWords } from "../../../src/policy/dropped.ts";
import { type Layer, NO_OPINION } from "../../../src/policy/layer.ts";
import { shownLeaves } from "../../../src/policy/show.ts";
import { effectiveOf } from "../../support/policy-of.ts";

type Effective = Awaited<ReturnType<typeof effectiveOf>>;

const at = ({ policy }: Effective, host: string, isPrivate = false, port = 443) =>
  decideConnection(policy, { host, port, isPrivate });
const words = (dropped: readonly Dropped[]) => dropped.map(droppedWords);
const shown = ({ bounds, image }: Effective, key: string) =>
  image && shownLeaves(bounds, { image, runtime: undefined }).find((leaf) => leaf.key === key)?.value;
const flags = async (...hosts: string[]): Promise<Layer> => ({
  ...NO_OPINION,
  hosts: (await allowHostLayer(hosts)).hosts,
});

describe("the hosts of several layers", () => {
  it("L-07 N-33 are those that every one of them lets stand; a deny of any beats every allow", async () => {
    const effective = await effectiveOf({
      organisation: "network: { allow: ['*.corp.test', b.test], deny: [x.corp.test] }",
      user: "network: { allow: [a.corp.test, x.corp.test, b.test, c.test], deny: [y.corp.test] }",
      project: "network: { allow: [a.corp.test, x.corp.test, y.corp.test, c.test] }",
    });
    const decided = ["a.corp.test", "x.corp.test", "y.corp.test", "b.test", "c.test"].map((host) =>
      at(effective, host),
    );
    expect(decided.map(({ type, rule }) => [type, rule])).toEqual([
      ["allow", "organisation/network.allow[0]"],
      ["deny", "organisation/network.deny[0]"],
      ["deny", "user/network.deny[0]"],
      ["deny", "project/network.allow"],
      ["deny", "organisation/network.allow"],
    ]);
    expect(shown(effective, "network.allow")).toEqual(["a.corp.test", "a.corp.test"]);
    expect(words(effective.dropped)).toEqual([
      "user/network.allow[1] (x.corp.test): organisation/network.deny[0] keeps no connection without it",
      "user/network.allow[3] (c.test): organisation/network.allow keeps no connection without it",
      "project/network.allow[1] (x.corp.test): organisation/network.deny[0] keeps no connection without it",
      "project/network.allow[2] (y.corp.test): user/network.deny[0] keeps no connection without it",
      "project/network.allow[3] (c.test): organisation/network.allow keeps no connection without it",
    ]);
  });

  it("are admitted for the requests that all of them admit", async () => {
    const api = (methods: string, paths: string) =>
      `network: { allow: [{ host: api.test, inspect: true, methods: [${methods}], paths: ['${paths}'] }] }`;
    const effective = await effectiveOf({ user: api("GET, POST", "/**"), project: api("GET", "/public/**") });
    const request = (method: string, path: string) =>
      decideRequest(effective.policy, { host: "api.test", port: 443, tls: "opened", request: { method, path } }).type;
    expect([request("GET", "/public/a"), request("POST", "/public/a"), request("GET", "/a")]).toEqual([
      "allow",
      "deny",
      "deny",
    ]);
    expect(shown(effective, "network.allow")).toEqual(["api.test (inspect, GET, /public/**)"]);
  });

  it("a question of one layer is one for all, and is said where another did not want it", async () => {
    const effective = await effectiveOf({
      organisation: "network: { ask: [a.test] }",
      user: "network: { allow: [a.test] }",
    });
    expect(at(effective, "a.test")).toMatchObject({ type: "ask", rule: "organisation/network.ask[0]" });
    expect(words(effective.dropped)).toEqual([
      "user/network.allow[0] (a.test): organisation/network.ask[0] keeps a question",
    ]);
  });

  it("are none where connections are denied as a whole, and it is said", async () => {
    const effective = await effectiveOf({
      organisation: "approval: { net: deny }",
      user: "network: { allow: [a.test] }",
    });
    expect(at(effective, "a.test")).toMatchObject({ type: "deny", rule: "organisation/approval.net" });
    expect(words(effective.dropped)).toEqual([
      "user/network.allow[0] (a.test): organisation/approval.net keeps no connection without it",
    ]);
  });
});

describe("private addresses and services of this machine", () => {
  const PROJECT = "network: { allow: [{ host: db.test, private: true }], forward: [{ listen: 5, to: '127.0.0.1:5' }] }";

  it("are a user's to open", async () => {
    const effective = await effectiveOf({ user: PROJECT });
    expect([at(effective, "db.test").type, at(effective, "db.test", true).type]).toEqual(["allow", "allow"]);
    expect(effective.policy.network.forward).toEqual([{ value: "5 to 127.0.0.1:5", rule: "user/network.forward[0]" }]);
    expect(effective.dropped).toEqual([]);
  });

  it("L-01 are no project's, which is shown", async () => {
    const effective = await effectiveOf({ user: "network: { allow: [db.test] }", project: PROJECT });
    expect([at(effective, "db.test").type, at(effective, "db.test", true).type]).toEqual(["allow", "deny"]);
    expect(effective.policy.network.forward).toEqual([]);
    expect(words(effective.dropped)).toEqual([
      "project/network.forward[0] (5 to 127.0.0.1:5): built-in/network.forward keeps nothing",
      "project/network.allow[0] (db.test (private)): user/network.allow[0] keeps public addresses only",
    ]);
  });

  it("L-01 are no project's that is trusted either, although its hosts are", async () => {
    const effective = await effectiveOf({ project: PROJECT, isProjectTrusted: true });
    expect([at(effective, "db.test").type, at(effective, "db.test", true).type]).toEqual(["allow", "deny"]);
    expect(effective.policy.network.forward).toEqual([]);
    expect(words(effective.dropped)).toEqual([
      "project/network.forward[0] (5 to 127.0.0.1:5): built-in/network.forward keeps nothing",
      "project/network.allow[0] (db.test (private)): built-in/network.private keeps public addresses only",
    ]);
  });

  it("that the user opens a project's rule may use, and one without `private` does not close", async () => {
    const user = "network: { allow: [{ host: db.test, private: true }] }";
    const same = await effectiveOf({ user, project: user });
    expect([at(same, "db.test", true).type, same.dropped]).toEqual(["allow", []]);
    const tighter = await effectiveOf({ user, project: "network: { allow: [db.test] }" });
    expect(at(tighter, "db.test", true).type).toBe("allow");
    expect(shown(tighter, "network.allow")).toEqual(["db.test (private)", "db.test (private)"]);
    const other = await effectiveOf({ user, project: "network: { allow: [other.test] }" });
    expect(at(other, "db.test", true).type).toBe("deny");
  });
});

describe("`--allow-host`", () => {
  it("adds to the hosts of the person, on port 443 or the one it names", async () => {
    const effective = await effectiveOf({
      user: "network: { allow: [a.test] }",
      flags: await flags("B.test.", "c.test:8443", "*.d.test"),
    });
    const probes = [
      ["a.test", 443],
      ["b.test", 443],
      ["b.test", 80],
      ["c.test", 8443],
      ["c.test", 443],
      ["x.d.test", 443],
    ] as const;
    expect(probes.map(([host, port]) => at(effective, host, false, port).type)).toEqual([
      ...["allow", "allow", "deny", "allow", "deny", "allow"],
    ]);
    expect(at(effective, "b.test").rule).toBe("flag/allow-host[0]");
    expect(at(effective, "z.test").rule).toBe("user/network.allow");
    expect(effective.dropped).toEqual([]);
  });

  it("opens no private address and lets no bytes pass unseen", async () => {
    const effective = await effectiveOf({ flags: await flags("a.test") });
    expect(at(effective, "a.test")).toMatchObject({ treatment: { protocol: "auto", tls: "sealed" } });
    expect(at(effective, "a.test", true).type).toBe("deny");
  });

  it("lifts no limit and no `private` of a rule of the person's own that admits the host, and says so", async () => {
    const api = "network: { allow: [{ host: a.test, inspect: true, methods: [GET], private: true }] }";
    const effective = await effectiveOf({ user: api, flags: await flags("a.test", "b.test") });
    const post = { host: "a.test", port: 443, request: { method: "POST", path: "/" } };
    expect(at(effective, "a.test")).toMatchObject({
      rule: "user/network.allow[0]",
      treatment: { protocol: "auto", tls: "opened" },
    });
    expect([at(effective, "a.test", true).type, at(effective, "b.test").type]).toEqual(["allow", "allow"]);
    expect(decideRequest(effective.policy, { ...post, tls: "opened" }).type).toBe("deny");
    expect(effective.warnings).toEqual([
      "flag/allow-host[0]: user/network.allow[0] admits it already, with its own limits",
    ]);
    const trusted = await effectiveOf({ project: api, isProjectTrusted: true, flags: await flags("a.test") });
    expect(at(trusted, "a.test")).toMatchObject({ treatment: { tls: "opened" } });
  });

  it("turns the person's own question into a yes with the options of its rule", async () => {
    const ask = "network: { ask: [{ host: a.test, ports: [22, 443], protocol: tcp, private: true }] }";
    const effective = await effectiveOf({ user: ask, flags: await flags("a.test") });
    expect(at(effective, "a.test", true)).toMatchObject({ type: "allow", treatment: { protocol: "tcp" } });
    expect([at(effective, "a.test", true, 22).type, effective.warnings]).toEqual(["ask", []]);
  });

  it("is no remedy for a limit: the rule is named, and what to add to it", async () => {
    const { policy } = await effectiveOf({
      user: "network: { allow: [{ host: a.test, inspect: true, methods: [GET], paths: ['/yes', '/yes/**'] }] }",
    });
    const remedy = (method: string, path: string) => {
      const decision = decideRequest(policy, { host: "a.test", port: 443, tls: "opened", request: { method, path } });
      return decision.type === "deny" && decision.enableWith;
    };
    expect([remedy("GET", "/no"), remedy("POST", "/yes"), remedy("GET", "/*")]).toEqual([
      'add "/no" to the paths of user/network.allow[0]',
      "add POST to the methods of user/network.allow[0]",
      "add a pattern for this path to the paths of user/network.allow[0]",
    ]);
  });

  it("is not asked for although the person's own file asks, and is although the organisation's does", async () => {
    const ask = "network: { ask: ['*.x.test'] }";
    const own = await effectiveOf({ user: ask, flags: await flags("a.x.test") });
    expect([at(own, "a.x.test").type, at(own, "b.x.test").type, own.dropped]).toEqual(["allow", "ask", []]);
    const theirs = await effectiveOf({ organisation: ask, flags: await flags("a.x.test") });
    expect(at(theirs, "a.x.test").type).toBe("ask");
    expect(words(theirs.dropped)).toEqual([
      "flag/allow-host[0] (a.x.test): organisation/network.ask[0] keeps a question",
    ]);
  });

  it.each([
    ["the organisation's ceiling", { organisation: "network: { allow: [b.test] }" }, "organisation/network.allow"],
    ["an organisation's deny", { organisation: "network: { deny: ['*.test'] }" }, "organisation/network.deny[0]"],
    ["the person's own deny", { user: "network: { deny: [a.test] }" }, "user/network.deny[0]"],
    ["a project that wants no host", { project: "network: { allow: [] }" }, "project/network.allow"],
    ["a trusted one", { project: "network: { allow: [] }", isProjectTrusted: true }, "project/network.allow"],
    ["a policy that denies connections", { user: "approval: { net: deny }" }, "user/approval.net"],
  ])("L-07 is below %s, and it is said", async (_, layers, by) => {
    const effective = await effectiveOf({ ...layers, flags: await flags("a.test") });
    expect(at(effective, "a.test")).toMatchObject({ type: "deny", rule: by });
    expect(words(effective.dropped)).toEqual([`flag/allow-host[0] (a.test): ${by} keeps no connection without it`]);
  });

  it.each([
    ["https://a.test", "is a URL"],
    ["a.test/x", "has a path"],
    ["127.0.0.1", "is an address"],
    ["127.0.0.1:80", "is an address"],
    ["[::1]:80", "is an address"],
    ["0x7f.1", "is an address"],
    ["a.test:0", "has a port that is none"],
    ["a.test:70000", "has a port that is none"],
    ["a.test:http", "has a port that is none"],
    ["user@a.test", "has characters that no host name has"],
    ["*", "is every host"],
    ["*.com", "is every site below `.com`"],
    ["*.co.uk", "is every site below a public suffix"],
    ["localhost:5432", "is the container itself"],
    ["", "is no host name"],
  ])("O-NET-02 %j is no host to allow", async (text, says) => {
    await expect(allowHostLayer([text])).rejects.toMatchObject({
      code: "USAGE",
      exitCode: 2,
      message: expect.stringContaining(says),
      hint: expect.stringContaining("HOST:PORT"),
    });
  });

  it("of a suffix that strangers share is warned of", async () => {
    expect((await allowHostLayer(["a.test", "*.github.io"])).warnings).toEqual([
      "flag/allow-host[1]: everybody can have a site that `*.github.io` matches",
    ]);
  });
});
