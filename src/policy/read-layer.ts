import { normalPrefix } from "./command-prefix.ts";
import { hostPattern } from "./host-pattern.ts";
import type { HostRule } from "./hosts.ts";
import {
  CHOICE_NAMES,
  type HostListName,
  type Layer,
  type LayerName,
  type ListName,
  NUMBERS,
  type NumberName,
  type RuledList,
} from "./layer.ts";
import { normalPath } from "./paths.ts";
import type { PolicyFile } from "./schema.ts";
import { parseSize } from "./size.ts";

/** The opinions of a file that the schema has let through. */
export function layerOf(file: PolicyFile, name: LayerName): Layer {
  return {
    numbers: collect(NUMBERS, (leaf) => {
      const value = numberOf(file, leaf);
      return value === undefined ? undefined : { value, rule: `${name}/${leaf}` };
    }),
    choices: collect(CHOICE_NAMES, (leaf) => {
      const value = at(file, leaf);
      return value === undefined ? undefined : { value: String(value), rule: `${name}/${leaf}` };
    }),
    lists: { ...plainLists(file, name), ...commandLists(file, name) },
    hosts: hostsOf(file, name),
    picks: {
      ...(file.image !== undefined && { image: { value: file.image, rule: `${name}/image` } }),
      ...(file.sandbox?.runtime !== undefined && {
        "sandbox.runtime": { value: file.sandbox.runtime, rule: `${name}/sandbox.runtime` },
      }),
    },
  };
}

function collect<Name extends string, T>(
  names: readonly Name[],
  find: (name: Name) => T | undefined,
): Partial<Record<Name, T>> {
  const found: Partial<Record<Name, T>> = {};
  for (const name of names) {
    const value = find(name);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** The scalar at `section.key`. */
function at(file: PolicyFile, leaf: string): string | number | boolean | undefined {
  const [section = "", key = ""] = leaf.split(".");
  const map = (file as Record<string, unknown>)[section] as
    | Record<string, string | number | boolean>
    | null
    | undefined;
  return map?.[key];
}

function numberOf(file: PolicyFile, leaf: NumberName): number | undefined {
  const value = at(file, leaf);
  if (typeof value === "string") return parseSize(value);
  if (typeof value !== "number") return undefined;
  return leaf === "limits.minutes" ? value * 60 : value;
}

/** `null` is an empty list. */
function listOf<In, Out = In>(
  rule: string,
  items: readonly In[] | null | undefined,
  map: (item: In) => Out,
): RuledList<Out> | undefined {
  if (items === undefined) return undefined;
  return { rule, items: (items ?? []).map((item, index) => ({ value: map(item), rule: `${rule}[${index}]` })) };
}

type Lists = Partial<Record<ListName, RuledList<string>>>;

function plainLists({ workspace, network, tools, env, images }: PolicyFile, name: LayerName): Lists {
  const same = (text: string): string => text;
  const forward = network === null ? null : network?.forward;
  const set = env?.set === null ? {} : env?.set;
  const lists: Record<
    Exclude<ListName, `commands.${string}` | "workspace.protected">,
    RuledList<string> | undefined
  > = {
    images: listOf(`${name}/images`, images, same),
    "workspace.writable": listOf(`${name}/workspace.writable`, workspace?.writable, normalPath),
    "workspace.readonly": listOf(`${name}/workspace.readonly`, workspace?.readonly, normalPath),
    "workspace.unprotect": listOf(`${name}/workspace.unprotect`, workspace?.unprotect, normalPath),
    "workspace.hidden": listOf(`${name}/workspace.hidden`, workspace?.hidden, normalPath),
    "network.forward": listOf(`${name}/network.forward`, forward, ({ listen, to }) => `${listen} to ${to}`),
    "tools.deny": listOf(`${name}/tools.deny`, tools?.deny, same),
    "env.pass": listOf(`${name}/env.pass`, env?.pass, same),
    "env.set": set && {
      rule: `${name}/env.set`,
      items: Object.entries(set).map(([key, value]) => ({ value: `${key}=${value}`, rule: `${name}/env.set.${key}` })),
    },
  };
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list !== undefined));
}

/** Rules that restrict add up over the layers, exceptions do not. */
function commandLists({ commands }: PolicyFile, name: LayerName): Lists {
  const all = listOf(`${name}/commands`, commands, ({ match, decision }) => `${decision} ${normalPrefix(match)}`);
  if (!all) return {};
  const isAllow = ({ value }: { value: string }): boolean => value.startsWith("allow ");
  const prefixOf = ({ value, rule }: { value: string; rule: string }) => ({
    value: value.slice("allow ".length),
    rule,
  });
  return {
    "commands.allow": { rule: all.rule, items: all.items.filter(isAllow).map(prefixOf) },
    "commands.restrict": { rule: all.rule, items: all.items.filter((item) => !isAllow(item)) },
  };
}

function hostsOf({ network }: PolicyFile, name: LayerName): Layer["hosts"] {
  return collect(["allow", "ask", "deny"] as const, (leaf) =>
    listOf(`${name}/network.${leaf}`, network === null ? null : network?.[leaf], (item) => hostRule(item, leaf)),
  );
}

type Network = NonNullable<PolicyFile["network"]>;
type HostItem = NonNullable<Network["allow"] | Network["deny"]>[number];

function hostRule(item: HostItem, list: HostListName): HostRule {
  const said = list === "deny" ? DENIED : ADMITTED;
  const patternOf = (text: string): string => requirePattern(text, list === "deny" ? "denies" : "admits");
  if (typeof item === "string") return { host: patternOf(item), ...said };
  if ("registry" in item) return { host: `registry:${item.registry}`, ...said };
  const rule = { host: patternOf(item.host), ...said, ports: item.ports ?? said.ports };
  if (!("protocol" in item || "private" in item || "inspect" in item || "methods" in item || "paths" in item))
    return rule;
  return {
    ...rule,
    protocol: item.protocol ?? said.protocol,
    private: item.private ?? said.private,
    inspect: item.inspect ?? said.inspect,
    methods: item.methods ?? said.methods,
    paths: item.paths ?? said.paths,
  };
}

type Said = Omit<HostRule, "host" | "registry">;

/** What a bare name in `allow` and `ask` means. */
export const ADMITTED: Said = {
  ports: [443],
  protocol: "auto",
  private: false,
  inspect: false,
  methods: "all",
  paths: "all",
};

const DENIED: Said = { ...ADMITTED, ports: "all", protocol: "tcp" };

/** @throws Error for what the schema has not let through: a fault of ours, never a name nobody wrote. */
function requirePattern(text: string, rule: "admits" | "denies"): string {
  const found = hostPattern(text, rule);
  if ("problem" in found) throw new Error(`\`${text}\` ${found.problem}`);
  return found.pattern;
}
