import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideConnection, portsOf, type Treatment } from "../../../src/policy/decide-connection.ts";
import { canonicalHost } from "../../../src/policy/host-name.ts";
import { explainHost } from "../../../src/session/explain-host.ts";
import { effectiveOf } from "../../support/policy-of.ts";

/** Kinds of rules that admit, each with the treatments it lets happen, from the loosest on. */
const KINDS = {
  plain: { keys: {}, ways: ["sealed", "opened", "refused"] },
  tcp: { keys: { protocol: "tcp" }, ways: ["tcp", "ssh", "sealed", "opened", "refused"] },
  ssh: { keys: { protocol: "ssh" }, ways: ["ssh"] },
  inspected: { keys: { inspect: true, methods: ["GET"] }, ways: ["opened", "refused"] },
} as const;

const TREATMENTS: Record<string, Treatment> = {
  tcp: { protocol: "tcp", tls: "sealed" },
  ssh: { protocol: "ssh", tls: "sealed" },
  sealed: { protocol: "auto", tls: "sealed" },
  opened: { protocol: "auto", tls: "opened" },
  refused: { protocol: "auto", tls: "refused" },
};

type Item = { host: string; ports?: number[]; kind: keyof typeof KINDS };
type Lists = { allow?: Item[]; ask?: Item[]; deny?: Item[] };

const item: fc.Arbitrary<Item> = fc.record(
  {
    host: fc.constantFrom("a.test", "x.a.test", "*.a.test", "*.x.a.test", "b.test"),
    ports: fc.constantFrom([443], [80], [80, 443], [22]),
    kind: fc.constantFrom(...(["plain", "plain", "tcp", "ssh", "inspected"] as const)),
  },
  { requiredKeys: ["host", "kind"] },
);
const list = fc.array(item, { maxLength: 3 });
const lists: fc.Arbitrary<Lists> = fc.record({ allow: list, ask: list, deny: list }, { requiredKeys: [] });

/** How somebody may write a name: the same name, or none. */
const SPELLINGS: Record<string, { of: (name: string) => string; isName: boolean }> = {
  "as it is": { of: (name) => name, isName: true },
  "N-24 in capitals": { of: (name) => name.toUpperCase(), isName: true },
  "N-25 with a dot": { of: (name) => `${name}.`, isName: true },
  "N-25 with two dots": { of: (name) => `${name}..`, isName: false },
  "N-30 in wide letters": { of: (name) => name.replace("test", "ｔｅｓｔ"), isName: true },
  "N-30 with what cannot be seen": { of: (name) => `${name.slice(0, 2)}\u200b${name.slice(2)}`, isName: false },
  "N-28 with a NUL": { of: (name) => `${name}\0`, isName: false },
  "N-28 with a line end": { of: (name) => `${name}\r\n`, isName: false },
  "N-28 with an escaped dot": { of: (name) => name.replace(".", "%2e"), isName: false },
  "N-31 behind an `@`": { of: (name) => `evil.test@${name}`, isName: false },
  "N-31 before a backslash": { of: (name) => `${name}\\evil.test`, isName: false },
  "N-31 before a `#`": { of: (name) => `${name}#evil.test`, isName: false },
};
const NAMES = ["a.test", "x.a.test", "y.x.a.test", "b.test", "xa.test", "a.test.evil.test", "c.test"];

/** What is to be decided, said in another way than the program says it. */
function expected(layers: readonly Lists[], host: string, port: number): { type: string; treatment?: Treatment } {
  for (const type of ["allow", "ask"] as const) {
    for (const [way, treatment] of Object.entries(TREATMENTS)) {
      if (layers.every((layer) => lets(layer, { host, port, way }).includes(type))) {
        // What everybody allows without a question was found before.
        return { type, treatment };
      }
    }
  }
  return { type: "deny" };
}

/** What one layer lets happen to a connection in one way. */
function lets({ allow, ask, deny }: Lists, at: { host: string; port: number; way: string }): ("allow" | "ask")[] {
  const isNamed = ({ host }: Item): boolean =>
    host.startsWith("*.") ? at.host.endsWith(host.slice(1)) : at.host === host;
  const admits = (rule: Item): boolean =>
    isNamed(rule) && (rule.ports ?? [443]).includes(at.port) && KINDS[rule.kind].ways.some((way) => way === at.way);
  if (deny?.some((rule) => isNamed(rule) && (rule.ports ?? [at.port]).includes(at.port))) return [];
  if (ask?.some(admits)) return ["ask"];
  if (allow?.some(admits)) return ["allow", "ask"];
  if (allow) return [];
  return ask ? ["allow"] : ["allow", "ask"];
}

function text(layer: Lists): string {
  const written = ({ host, ports, kind }: Item, isDeny: boolean) => ({
    host,
    ...(ports && { ports }),
    ...(isDeny ? {} : KINDS[kind].keys),
  });
  const network = Object.fromEntries(
    Object.entries(layer).map(([name, items]) => [name, items.map((rule) => written(rule, name === "deny"))]),
  );
  // JSON is YAML.
  return `network: ${JSON.stringify(network)}`;
}

function explained(value: string, policy: Parameters<typeof explainHost>[1]): object {
  try {
    return explainHost(value, policy);
  } catch (error) {
    return { code: (error as { code?: string }).code };
  }
}

describe("what is said of a connection", () => {
  it("is the same of the gate, of its ports and of `policy explain`, however the name is written", async () => {
    const cases = fc.record({
      user: lists,
      project: lists,
      name: fc.constantFrom(...NAMES),
      port: fc.constantFrom(443, 80, 22),
      spelling: fc.constantFrom(...Object.values(SPELLINGS)),
    });
    const details = await fc.check(
      fc.asyncProperty(cases, async ({ user, project, name, port, spelling }) => {
        const { policy } = await effectiveOf({ user: text(user), project: text(project) });
        const written = spelling.of(name);
        const canonical = canonicalHost(written);
        expect(canonical).toEqual(spelling.isName ? { host: name } : { problem: expect.any(String) });
        if (!("host" in canonical)) {
          expect(explained(`${written}:${port}`, policy)).toEqual({ code: "USAGE" });
          return;
        }
        const decided = decideConnection(policy, { host: canonical.host, port });
        // Nobody is behind a list that nobody names: the built-in one is empty.
        const wanted = expected([{ ...user, allow: user.allow ?? [] }, project], name, port);
        expect(decided).toMatchObject(wanted);
        expect(portsOf(policy, name).includes(port)).toBe(wanted.type !== "deny");
        expect(explained(`${written}:${port}`, policy)).toEqual({
          decision: decided.type,
          rule: decided.rule,
          treatment: wanted.treatment ?? null,
        });
      }),
      { numRuns: 1_000 },
    );
    if (details.failed) throw new Error(fc.defaultReportMessage(details));
  }, 120_000);

  it.each(Object.entries(SPELLINGS))("%s is a name or none as often as it is asked", async (_, { of, isName }) => {
    const { policy } = await effectiveOf({ user: "network: { allow: [a.test] }" });
    expect(explained(of("a.test"), policy)).toEqual(
      isName
        ? { decision: "allow", rule: "user/network.allow[0]", treatment: { protocol: "auto", tls: "sealed" } }
        : { code: "USAGE" },
    );
  });
});
