import { normalPrefix } from "./command-prefix.ts";
import { type HostRule, normalHost } from "./hosts.ts";
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

type HostItem = NonNullable<NonNullable<NonNullable<PolicyFile["network"]>["allow"]>>[number];

function hostRule(item: HostItem, list: HostListName): HostRule {
  const isDeny = list === "deny";
  const plain: Omit<HostRule, "host"> = {
    ports: isDeny ? "all" : [443],
    protocol: isDeny ? "tcp" : "auto",
    private: false,
    inspect: false,
    methods: "all",
    paths: "all",
  };
  if (typeof item === "string") return { host: normalHost(item), ...plain };
  if ("registry" in item) return { host: `registry:${item.registry}`, ...plain };
  const { host, ports, protocol } = item;
  return {
    ...plain,
    host: normalHost(host),
    ports: ports ?? plain.ports,
    protocol: isDeny ? "tcp" : (protocol ?? "auto"),
    private: item.private ?? false,
  };
}
