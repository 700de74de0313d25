import { describe, expect, it } from "vitest";
import { decideConnection, decideRequest, portsOf, seesPaths } from "../../../src/policy/decide-connection.ts";
import { canonicalHost } from "../../../src/policy/host-name.ts";
import { hostText } from "../../../src/policy/host-text.ts";
import { parsePolicy } from "../../../src/policy/parse.ts";
import { effectiveOf } from "../../support/policy-of.ts";

const parse = (network: string) =>
  parsePolicy(`version: 1\nnetwork: { ${network} }`, { file: "p.yaml", layer: "user" });
const decide = async (network: string, host: string, port = 443) =>
  decideConnection((await effectiveOf({ user: `network: { ${network} }` })).policy, { host, port });

describe("a rule for hosts", () => {
  it("says protocol, private addresses, and what of requests is let through", async () => {
    const { opinions, warnings } = await parse(
      'allow: [{ host: DB.test, ports: [5432], protocol: tcp, private: true }, { host: api.test, inspect: true, methods: [GET, HEAD], paths: ["/public/**", "/v*/a"] }]',
    );
    const rules = opinions.hosts.allow?.items.map(({ value }) => value) ?? [];
    expect(rules).toEqual([
      { host: "db.test", ports: [5432], protocol: "tcp", private: true, inspect: false, methods: "all", paths: "all" },
      {
        host: "api.test",
        ports: [443],
        protocol: "auto",
        private: false,
        inspect: true,
        methods: ["GET", "HEAD"],
        paths: ["/public/**", "/v*/a"],
      },
    ]);
    expect(rules.map(hostText)).toEqual([
      "db.test:5432 (tcp, private)",
      "api.test (inspect, GET HEAD, /public/** /v*/a)",
    ]);
    expect(warnings).toEqual([]);
  });

  it.each([
    [
      "a method in small letters",
      "methods: [get], inspect: true",
      "`get`, which is no method; expected `GET`, in capitals",
    ],
    ["a method with a blank", "methods: ['GET /'], inspect: true", "is no method; expected such as `GET`"],
    ["the method of proxies", "methods: [CONNECT], inspect: true", "is for proxies"],
    ["no method at all", "methods: [], inspect: true", "expected at least 1"],
    ["a path that begins nowhere", "paths: [public], inspect: true", "does not begin with `/`"],
    ["N-80 a query", "paths: ['/a?b=c'], inspect: true", "has a `?`"],
    ["N-80 a fragment", "paths: ['/a#b'], inspect: true", "has a `#`"],
    ["N-80 an escaped slash", "paths: ['/a%2fb'], inspect: true", "has a `%`"],
    ["N-80 a parameter", "paths: ['/a;b=c'], inspect: true", "read in more than one way"],
    ["N-80 a backslash", "paths: ['/a\\b'], inspect: true", "read in more than one way"],
    ["N-80 a slash of another alphabet", "paths: ['/a／b'], inspect: true", "read in more than one way"],
    ["N-80 two slashes", "paths: ['//a'], inspect: true", "has `//`"],
    ["N-80 a way up", "paths: ['/a/../b'], inspect: true", "has a segment `.` or `..`"],
    ["`**` within a segment", "paths: ['/a**'], inspect: true", "has `**` within a segment"],
    ["methods that nobody could see", "methods: [GET]", "cannot be seen inside TLS on port 443; add `inspect: true`"],
    ["paths that nobody could see", "paths: ['/a'], ports: [80, 443]", "cannot be seen inside TLS on port 443"],
    ["requests of bytes", "methods: [GET], protocol: tcp, ports: [80]", "`protocol: tcp` has none"],
    ["TLS of bytes", "inspect: true, protocol: ssh", "is `true`, which sees requests, and `protocol: ssh` has none"],
    ["a port that is none", "ports: [0]", "expected at least 1"],
    ["an unknown protocol", "protocol: udp", "expected `auto` or `tcp` or `ssh`"],
  ])("with %s is an error that says so", async (_, keys, says) => {
    await expect(parse(`allow: [{ host: a.example, ${keys} }]`)).rejects.toThrow(says);
    await expect(parse(`ask: [{ host: a.example, ${keys} }]`)).rejects.toThrow(says);
  });

  it.each(["methods: [GET]", "paths: ['/a']", "inspect: true", "protocol: tcp", "private: true"])(
    "that denies has no %s",
    async (key) => {
      await expect(parse(`deny: [{ host: a.example, ${key} }]`)).rejects.toThrow("a denied host is denied whole");
    },
  );

  it.each([
    ["the container itself", "allow: [localhost]", "is the container itself"],
    ["a name below it", "allow: ['*.localhost']", "is the container itself"],
    ["the container's other name", "ask: [glovebox]", "is the container itself"],
    ["N-34 every host", "allow: ['*']", "is every host"],
    ["N-33 every host that is to be denied", "deny: ['*']", "is every host; `allow: []` says that"],
    ["N-34 every host with a dot", "allow: ['*.']", "is no host name"],
    ["N-34 every site of a top level", "allow: ['*.COM.']", "is every site below `.com`"],
    ["N-34 every site of a public suffix", "ask: ['*.co.uk']", "below a public suffix"],
    ["O-NET-01 no host", "allow: ['']", "is no host name"],
    ["O-NET-01 a dot", "allow: ['.']", "is no host name"],
    ["O-NET-01 two dots at the end", "allow: [example.com..]", "is no host name"],
    ["O-NET-02 an address of circled digits", "allow: ['①②⑦.0.0.1']", "is an address"],
    ["a forward at the name server's port", "forward: [{ listen: 53, to: 'a:53' }]", "the container's own name server"],
    [
      "two forwards at one port",
      "forward: [{ listen: 5, to: 'a:1' }, { listen: 5, to: 'b:1' }]",
      "`network.forward[1].listen` is `5`, which is there twice",
    ],
  ])("for %s is an error", async (_, network, says) => {
    await expect(parse(network)).rejects.toThrow(says);
  });
});

describe("hosts by name and port", () => {
  const exact = "allow: [github.com]";
  const below = "allow: ['*.github.com']";
  it.each([
    ["N-20 the very name", exact, "github.com", 443, "allow"],
    ["N-20 a name below an exact one", exact, "api.github.com", 443, "deny"],
    ["N-21 a name below a wildcard", below, "api.github.com", 443, "allow"],
    ["N-21 the apex under a wildcard", below, "github.com", 443, "deny"],
    ["N-22 a name deep below a wildcard", below, "a.b.c.github.com", 443, "allow"],
    ["N-23 O-NET-01 a look-alike with another beginning", exact, "notgithub.com", 443, "deny"],
    ["N-23 O-NET-01 a look-alike under a wildcard", below, "evilgithub.com", 443, "deny"],
    ["N-23 O-NET-01 a look-alike that goes on", exact, "github.com.evil.example", 443, "deny"],
    ["N-23 a look-alike without its dot", exact, "githubcom", 443, "deny"],
    ["N-24 a rule in other letters", "allow: [GitHub.COM]", "github.com", 443, "allow"],
    ["N-32 O-NET-05 another port", exact, "github.com", 22, "deny"],
    ["N-32 plain HTTP without its port", exact, "github.com", 80, "deny"],
    ["N-32 plain HTTP with its port", "allow: [{ host: github.com, ports: [80] }]", "github.com", 80, "allow"],
    ["N-33 a name that is allowed and denied", `${below}, deny: [x.github.com]`, "x.github.com", 443, "deny"],
    ["N-33 its neighbour", `${below}, deny: [x.github.com]`, "y.github.com", 443, "allow"],
    ["N-33 a name below a denied wildcard", "allow: [a.b.test], deny: ['*.b.test']", "a.b.test", 443, "deny"],
    [
      "N-33 a denied port",
      "allow: [{ host: a.test, ports: [80, 443] }], deny: [{ host: a.test, ports: [80] }]",
      "a.test",
      80,
      "deny",
    ],
    [
      "N-33 its other port",
      "allow: [{ host: a.test, ports: [80, 443] }], deny: [{ host: a.test, ports: [80] }]",
      "a.test",
      443,
      "allow",
    ],
    ["N-33 a whole top level that is denied", "allow: [a.b.test], deny: ['*.test']", "a.b.test", 443, "deny"],
    ["a name that is asked for and denied", "ask: [a.test], deny: [a.test]", "a.test", 443, "deny"],
    ["a name that is asked for and allowed", "ask: [a.test], allow: [a.test]", "a.test", 443, "ask"],
  ])("%s", async (_, network, host, port, type) => {
    expect((await decide(network, host, port)).type).toBe(type);
  });

  it.each([
    ["that names paths", "allow: [x.a.test, { host: '*.a.test', inspect: true, paths: [/x/**] }]", true],
    ["that asks and names paths", "ask: [{ host: x.a.test, inspect: true, paths: [/x/**] }]", true],
    ["for methods alone", "allow: [{ host: x.a.test, inspect: true, methods: [GET] }]", false],
    ["for paths of another port", "allow: [{ host: x.a.test, ports: [80], paths: [/x/**] }]", false],
    ["for paths of another host", "allow: [{ host: b.test, inspect: true, paths: [/x/**] }]", false],
  ])("say whether it matters how a path is read: a rule %s", async (_, network, sees) => {
    const { policy } = await effectiveOf({ user: `network: { ${network} }` });
    expect(seesPaths(policy, { host: "x.a.test", port: 443 })).toBe(sees);
  });

  it("give a name the ports of all rules that admit it, and none of those that are denied", async () => {
    const { policy } = await effectiveOf({
      user: "network: { allow: ['*.a.test', { host: x.a.test, ports: [80, 8443] }], ask: [{ host: x.a.test, ports: [22] }], deny: [{ host: x.a.test, ports: [8443] }] }",
    });
    expect([portsOf(policy, "x.a.test"), portsOf(policy, "y.a.test"), portsOf(policy, "a.test")]).toEqual([
      [22, 80, 443],
      [443],
      [],
    ]);
  });

  it("are judged by `approval.net` as well, and the stricter word holds", async () => {
    const type = async (net: string, host: string) =>
      decideConnection(
        (await effectiveOf({ user: `approval: { net: ${net} }\nnetwork: { allow: [a.test], ask: [b.test] }` })).policy,
        { host, port: 443 },
      );
    expect(
      await Promise.all(["a.test", "b.test", "c.test"].map(async (host) => (await type("ask", host)).type)),
    ).toEqual(["ask", "ask", "deny"]);
    expect(await type("deny", "a.test")).toMatchObject({ type: "deny", rule: "user/approval.net" });
    expect(await type("allow", "a.test")).toMatchObject({ type: "allow", rule: "user/network.allow[0]" });
  });
});

describe("how a connection is treated", () => {
  it.each([
    ["a name alone", "a.test", { protocol: "auto", tls: "sealed" }],
    ["bytes", "{ host: a.test, protocol: tcp }", { protocol: "tcp", tls: "sealed" }],
    ["ssh", "{ host: a.test, protocol: ssh }", { protocol: "ssh", tls: "sealed" }],
    [
      "requests that are to be seen",
      "{ host: a.test, inspect: true, methods: [GET] }",
      { protocol: "auto", tls: "opened" },
    ],
  ])("by a rule for %s", async (_, item, treatment) => {
    expect(await decide(`allow: [${item}]`, "a.test")).toMatchObject({ type: "allow", treatment });
  });

  it("by limits of plain requests refuses TLS", async () => {
    expect(await decide("allow: [{ host: a.test, ports: [80], methods: [GET] }]", "a.test", 80)).toMatchObject({
      type: "allow",
      treatment: { protocol: "auto", tls: "refused" },
    });
  });

  it("lets through what the rule lists and nothing else", async () => {
    const { policy } = await effectiveOf({
      user: "network: { allow: [{ host: a.test, inspect: true, methods: [GET, HEAD], paths: ['/public/**', '/v*/x'] }] }",
    });
    const type = (method: string, path: string) =>
      decideRequest(policy, { host: "a.test", port: 443, tls: "opened", request: { method, path } }).type;
    const yes = [
      ["GET", "/public/a"],
      ["HEAD", "/public/a/b/"],
      ["GET", "/public/"],
      ["GET", "/v2/x"],
    ] as const;
    const no = [
      ["POST", "/public/a"],
      ["get", "/public/a"],
      ["GET", "/public"],
      ["GET", "/publicly"],
      ["GET", "/v2/x/y"],
      ["GET", "/v/2/x"],
      ["GET", "/"],
    ] as const;
    expect(yes.map(([method, path]) => type(method, path))).toEqual(yes.map(() => "allow"));
    expect(no.map(([method, path]) => type(method, path))).toEqual(no.map(() => "deny"));
  });

  it.each([
    [
      "bytes that pass unseen",
      'allow: [{ host: "*.corp.test", protocol: tcp }], ask: [prod.corp.test]',
      "prod.corp.test",
    ],
    [
      "TLS that passes unopened",
      "allow: [api.test], ask: [{ host: api.test, inspect: true, methods: [POST] }]",
      "api.test",
    ],
  ])("asks for a host that `ask` names, whatever wider rule lets it pass another way: %s", async (_, network, host) => {
    const { policy } = await effectiveOf({ user: `network: { ${network} }` });
    expect(decideConnection(policy, { host, port: 443 })).toMatchObject({ type: "ask", rule: "user/network.ask[0]" });
    const organisation = `network: { ask: [${host}] }`;
    const over = await effectiveOf({ organisation, user: `network: { allow: [{ host: ${host}, protocol: tcp }] }` });
    const decided = decideConnection(over.policy, { host, port: 443 });
    expect(decided.type).not.toBe("allow");
  });

  it("names the line to add, with what a private address needs", async () => {
    const { policy } = await effectiveOf({ user: "network: { allow: [a.test] }" });
    expect(decideConnection(policy, { host: "a.test", port: 443, isPrivate: true })).toEqual({
      type: "deny",
      rule: "user/network.allow",
      enableWith: "add `private: true` to user/network.allow[0]",
    });
  });
});

describe("a host that looks like another", () => {
  it("L-14 N-30 is named by its A-label wherever a person reads it", async () => {
    const { opinions } = await parse("allow: [аpple.test]");
    expect(opinions.hosts.allow?.items.map(({ value }) => hostText(value))).toEqual(["xn--pple-43d.test"]);
    const { policy } = await effectiveOf({});
    const canonical = canonicalHost("аpple.test");
    expect(canonical).toEqual({ host: "xn--pple-43d.test" });
    expect(decideConnection(policy, { host: "xn--pple-43d.test", port: 443 })).toMatchObject({
      enableWith: 'add "xn--pple-43d.test" to `network.allow`',
    });
    expect((await decide("allow: [аpple.test]", "apple.test")).type).toBe("deny");
  });
});

describe("rules for hosts that another one makes void", () => {
  it.each([
    [
      "allow: [{ host: a.test, private: true }], deny: [a.test]",
      "user/network.allow[0]: `a.test (private)` has no effect, user/network.deny[0] forbids it",
    ],
    [
      "allow: [a.b.test], ask: ['*.b.test']",
      "user/network.allow[0]: `a.b.test` is asked for, user/network.ask[0] says so",
    ],
    [
      "allow: [{ host: a.b.test, inspect: true, methods: [GET] }, '*.b.test']",
      "user/network.allow[0]: `a.b.test (inspect, GET)` limits nothing on port 443, user/network.allow[1] admits all of it there",
    ],
  ])("are named: %s", async (network, says) => {
    expect((await parse(network)).warnings).toEqual([says]);
  });

  it("are named where connections are denied as a whole", async () => {
    const { warnings } = await parsePolicy("version: 1\napproval: { net: deny }\nnetwork: { allow: [a.test] }", {
      file: "p.yaml",
      layer: "user",
    });
    expect(warnings).toEqual(["user/network.allow[0]: `a.test` has no effect, user/approval.net forbids it"]);
  });

  it.each([
    "allow: [{ host: a.test, inspect: true }, b.test]",
    "allow: [a.test], deny: [{ host: a.test, ports: [80] }]",
  ])("are not where each has a part: %s", async (network) => {
    expect((await parse(network)).warnings).toEqual([]);
  });
});
