import * as fc from "fast-check";
import type { Bounds } from "../../src/policy/bounds.ts";
import { rank } from "../../src/policy/bounds.ts";
import { decisionOf } from "../../src/policy/decide.ts";
import { commandRulesOf, decideLine } from "../../src/policy/decide-command.ts";
import { decideHost } from "../../src/policy/decide-host.ts";
import { decidePath } from "../../src/policy/decide-path.ts";
import type { HostProbe, HostRule } from "../../src/policy/hosts.ts";
import {
  CHOICE_NAMES,
  CHOICES,
  type Layer,
  LIST_NAMES,
  type ListName,
  NUMBERS,
  type RuledList,
} from "../../src/policy/layer.ts";
import type { ApprovalSetting } from "../../src/policy/policy.ts";
import { analyse } from "../../src/policy/shell-line/analyse.ts";

const PATHS = [".", "a", "a/b", "a/b/c.txt", "ab", "b", "b/a"];
const GLOBS = ["*", "**/b", "a/*", "?", "a/**/c.txt"];
const HOSTS = [
  "a.example",
  "x.a.example",
  "y.x.a.example",
  "b.example",
  "*.a.example",
  "*.x.a.example",
  "*.example.org",
];
const WORDS = ["x", "y", "z"];

const VALUES: Partial<Record<ListName, string[]>> = {
  "workspace.readonly": [...PATHS, ...GLOBS],
  "workspace.hidden": [...PATHS.slice(1), ...GLOBS],
  "workspace.writable": PATHS,
  "workspace.unprotect": [".vscode", ".envrc", ".idea"],
  "commands.restrict": ["ask git push", "deny git push", "ask git", "deny npm publish", "ask npm", "deny rm"],
  "commands.allow": ["git", "git push", "git status", "npm test", "npm", "rm"],
};

/** Texts that are plain, hidden, more than plain, and not understood. */
const COMMANDS = [
  ...["git push", "git status -s", "npm publish", "rm a", "git push > x", "sudo git push; npm test", "git $x"],
  ...["npm test", "(", "git push; ("],
].map((text) => [`command ${text}`, analyse(text)] as const);

/** Of any kind, also such as no file can have. */
export const hostRule: fc.Arbitrary<HostRule> = fc.record({
  host: fc.constantFrom(...HOSTS),
  ports: fc.constantFrom<HostRule["ports"][]>([443], [80, 443], "all"),
  protocol: fc.constantFrom<HostRule["protocol"][]>("auto", "tcp", "ssh"),
  private: fc.boolean(),
  inspect: fc.boolean(),
  methods: fc.constantFrom<HostRule["methods"][]>("all", ["GET"], ["GET", "POST"]),
  paths: fc.constantFrom<HostRule["paths"][]>("all", ["/a/**"], ["/a/b", "/c"]),
});

function listOf<T>(rule: string, item: fc.Arbitrary<T>): fc.Arbitrary<RuledList<T>> {
  return fc
    .array(item, { maxLength: 3 })
    .map((values) => ({ rule, items: values.map((value, index) => ({ value, rule: `${rule}[${index}]` })) }));
}

/** Opinions of one origin, from few values, so that layers often speak of the same thing. */
export function layer(name: string): fc.Arbitrary<Layer> {
  const ruled = <T>(leaf: string, value: fc.Arbitrary<T>) =>
    value.map((one) => ({ value: one, rule: `${name}/${leaf}` }));
  const some = <T>(entries: [string, fc.Arbitrary<T>][]) =>
    fc.record(Object.fromEntries(entries), { requiredKeys: [] });
  return fc.record({
    numbers: some(NUMBERS.map((leaf) => [leaf, ruled(leaf, fc.integer({ min: 1, max: 4 }))])),
    choices: some(CHOICE_NAMES.map((leaf) => [leaf, ruled(leaf, fc.constantFrom<string[]>(...CHOICES[leaf]))])),
    lists: some(
      // Nobody but the built-in layer has a default protected list.
      LIST_NAMES.filter((leaf) => leaf !== "workspace.protected").map((leaf) => [
        leaf,
        listOf(`${name}/${leaf}`, fc.constantFrom(...(VALUES[leaf] ?? WORDS))),
      ]),
    ),
    hosts: some(["allow", "ask", "deny"].map((leaf) => [leaf, listOf(`${name}/network.${leaf}`, hostRule)])),
    picks: fc.constant({}),
  }) as fc.Arbitrary<Layer>;
}

/** Connections and requests: unseen bytes, TLS that is sealed or opened, private addresses, plain requests. */
const KINDS: Omit<HostProbe, "host" | "port">[] = [
  { protocol: "auto" },
  { protocol: "tcp", tls: "sealed" },
  { protocol: "ssh", tls: "sealed", isPrivate: true },
  { protocol: "auto", tls: "sealed" },
  { protocol: "auto", isPrivate: true },
  { protocol: "auto", request: { method: "GET", path: "/a/b" } },
  { protocol: "auto", request: { method: "POST", path: "/c" } },
  { protocol: "auto", tls: "opened", request: { method: "GET", path: "/a/x/y" } },
  { protocol: "auto", tls: "opened", isPrivate: true, request: { method: "GET", path: "/a" } },
];

function kindAt(index: number): (typeof KINDS)[number] {
  return KINDS[index % KINDS.length] ?? { protocol: "auto" };
}

/** Two kinds a place, in turns, so that each kind meets several: all at all would take most of the time of a run. */
const PROBES: HostProbe[] = ["a.example", "x.a.example", "y.x.a.example", "b.example", "q.example.org", "other.test"]
  .flatMap((host) => [443, 80].map((port) => ({ host, port })))
  .flatMap((place, index) => [0, 5].map((step) => ({ ...place, ...kindAt(index + step) })));
const PROBE_NAMES = PROBES.map((probe) => `host ${JSON.stringify(probe)}`);
const PROBED_PATHS = [...PATHS.slice(1), "z", "a/x/c.txt", "b/a/b", ".git", ".vscode/x", ".envrc", "my.code-workspace"];
const TIGHTNESS = { allow: 0, ask: 1, deny: 2, writable: 0, readonly: 1, hidden: 2 };

/** Every decision that bounds make, as a number that grows with tightness; nobody's opinion is the loosest. */
export function decisions({ numbers, choices, lists, hosts }: Bounds): Map<string, number> {
  const found = new Map<string, number>();
  for (const name of NUMBERS) found.set(name, -(numbers[name]?.value ?? Number.POSITIVE_INFINITY));
  for (const name of CHOICE_NAMES) found.set(name, rank(name, choices[name]?.value ?? CHOICES[name][0]));
  for (const [index, probe] of PROBES.entries()) {
    const decision = hosts.length === 0 ? "allow" : decideHost(hosts, probe).type;
    found.set(PROBE_NAMES[index] ?? "", TIGHTNESS[decision]);
  }
  for (const path of PROBED_PATHS) found.set(`path ${path}`, TIGHTNESS[decidePath({ lists, choices }, path).type]);
  const exec = choices["approval.exec"] ?? { value: "allow", rule: "" };
  const base = decisionOf("exec", exec.value as ApprovalSetting, exec.rule);
  const rules = commandRulesOf({ lists });
  for (const [name, line] of COMMANDS) found.set(name, TIGHTNESS[decideLine(rules, base, line).type]);
  const holds = (name: ListName, word: string): boolean =>
    lists[name]?.items.some(({ value }) => value === word) ?? false;
  for (const word of WORDS) {
    found.set(`tools.deny ${word}`, holds("tools.deny", word) ? 1 : 0);
    for (const name of ["network.forward", "env.pass", "env.set", "images"] as const) {
      found.set(`${name} ${word}`, lists[name] && !holds(name, word) ? 1 : 0);
    }
  }
  return found;
}

/** The decisions in which `a` is looser than `b`. */
export function looserIn(a: Bounds, b: Bounds): string[] {
  const bound = decisions(b);
  return [...decisions(a)].filter(([name, value]) => value < (bound.get(name) ?? 0)).map(([name]) => name);
}
