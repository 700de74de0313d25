import * as fc from "fast-check";
import type { Treatment } from "../../src/policy/decide-connection.ts";

/** Kinds of rules that admit, each with the treatments it lets happen, from the loosest on. */
export const KINDS = {
  plain: { keys: {}, ways: ["sealed", "opened", "refused"] },
  tcp: { keys: { protocol: "tcp" }, ways: ["tcp", "ssh", "sealed", "opened", "refused"] },
  ssh: { keys: { protocol: "ssh" }, ways: ["ssh"] },
  inspected: { keys: { inspect: true, methods: ["GET"] }, ways: ["opened", "refused"] },
} as const;

export const TREATMENTS: Record<string, Treatment> = {
  tcp: { protocol: "tcp", tls: "sealed" },
  ssh: { protocol: "ssh", tls: "sealed" },
  sealed: { protocol: "auto", tls: "sealed" },
  opened: { protocol: "auto", tls: "opened" },
  refused: { protocol: "auto", tls: "refused" },
};

export type Item = { host: string; ports?: number[]; kind: keyof typeof KINDS };
export type Lists = { allow?: Item[]; ask?: Item[]; deny?: Item[] };

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
export const SPELLINGS: Record<string, { of: (name: string) => string; isName: boolean }> = {
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
export const NAMES = ["a.test", "x.a.test", "y.x.a.test", "b.test", "xa.test", "a.test.evil.test", "c.test"];

/** The rules as the text of a policy file. */
export function hostRulesText(layer: Lists): string {
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

/** Rules of two layers, and a host as somebody may write it. */
export const hostCases = fc.record({
  user: lists,
  // Mostly without a project's: of two that list hosts, few agree.
  project: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: lists }),
  name: fc.constantFrom(...NAMES),
  port: fc.constantFrom(443, 80, 22),
  spelling: fc.constantFrom(...Object.values(SPELLINGS)),
});
