import { deniesHost, type HostProbe, type HostRule, seesRequests } from "./hosts.ts";
import type { HostListName, Ruled } from "./layer.ts";
import type { Policy } from "./policy.ts";
import { requestPathProblem } from "./request-rules.ts";

type Hosts = Policy["network"]["hosts"];
type Refused = { type: "ask" | "deny"; rule: string };

/** What a person could change in one policy, in words, and the rules as they would be then. */
export type HostChange = { words: string; after: () => Hosts };

/** The change that answers a refusal by the policy it came from; what that policy has already is kept. */
export function changeFor(hosts: Hosts, probe: HostProbe, refused: Refused): HostChange {
  const { rule } = refused;
  if (rule.includes("/network.deny[")) return { words: `take the rule ${rule} out`, after: () => without(hosts, rule) };
  if (refused.type === "ask") {
    return {
      words: `move ${rule} as it is from \`network.ask\` to \`network.allow\``,
      after: () => moved(hosts, rule),
    };
  }
  const found = namingIn(hosts, rule, probe);
  const widened = found && widenedFor(found, probe);
  if (found && widened) {
    const after = () => replaced(hosts, found, widened.value);
    return { words: widened.words, after };
  }
  const value = plainRule(probe);
  return { words: `add ${ruleText(value)} to \`network.allow\``, after: () => added(hosts, rule, value) };
}

/** As a policy file has it: a bare name, or a rule with its keys. */
export function ruleText({ host, ports, protocol, private: isPrivate, inspect, methods, paths }: HostRule): string {
  const keys = [
    ports === "all" || (ports.length === 1 && ports[0] === 443) ? [] : [`ports: [${ports.join(", ")}]`],
    protocol === "auto" ? [] : [`protocol: ${protocol}`],
    isPrivate ? ["private: true"] : [],
    inspect ? ["inspect: true"] : [],
    methods === "all" ? [] : [`methods: [${methods.join(", ")}]`],
    paths === "all" ? [] : [`paths: [${paths.map((path) => `"${path}"`).join(", ")}]`],
  ].flat();
  return keys.length === 0 ? `"${host}"` : `{ ${[`host: ${host}`, ...keys].join(", ")} }`;
}

/** The rule that let a connection through, for its host and port alone: the one with this id, or any that names it. */
export function ruleAt(hosts: Hosts, { host, port }: { host: string; port: number }, rule: string): HostRule {
  const named = itemsOf(hosts).filter(({ value }) => deniesHost(value, { host, port, protocol: "auto" }));
  const { registry: _registry, ...value } = (named.find((item) => item.rule === rule) ?? named[0])?.value ?? {
    ...plainRule({ host, port }),
  };
  return { ...value, host, ports: [port] };
}

/** The rules as if the person had one more, in their own policy or, with `rule`, on the command line. */
export function withOwn(hosts: Hosts, value: HostRule, rule: string): Hosts {
  return hosts.map((opinion) => {
    const { allow } = opinion;
    if (!allow || !/^(built-in|user|flag)\//.test(allow.rule)) return opinion;
    return { ...opinion, allow: { ...allow, items: [{ value, rule }, ...allow.items] } };
  });
}

export function plainRule({ host, port, isPrivate = false }: Pick<HostProbe, "host" | "port" | "isPrivate">): HostRule {
  const limits = { inspect: false, methods: "all", paths: "all" } as const;
  return { host, ports: [port], protocol: "auto", private: isPrivate, ...limits };
}

function itemsOf(hosts: Hosts): Ruled<HostRule>[] {
  return hosts.flatMap(({ allow, ask }) => [...(allow?.items ?? []), ...(ask?.items ?? [])]);
}

/** A rule of the list with this id that speaks of the host and port, though not of all that is wanted. */
function namingIn(hosts: Hosts, list: string, probe: HostProbe): Ruled<HostRule> | undefined {
  const opinions = hosts.filter(({ allow, ask }) => allow?.rule === list || ask?.rule === list);
  return itemsOf(opinions).find(({ value, rule }) => deniesHost(value, probe) && !rule.startsWith("flag/"));
}

/** The same rule with what is missing in it; undefined where it is of another kind. */
function widenedFor(
  { value, rule }: Ruled<HostRule>,
  { request, isPrivate, tls }: HostProbe,
): { value: HostRule; words: string } | undefined {
  if (value.registry !== undefined) return undefined;
  const { methods, paths } = value;
  const method = request && methods !== "all" && !methods.includes(request.method) ? request.method : undefined;
  const path = request && paths !== "all" && method === undefined ? request.path : undefined;
  const parts: string[] = [];
  if (isPrivate && !value.private) parts.push(`\`private: true\` to ${rule}`);
  else if (tls === "opened" && seesRequests(value) && !value.inspect) parts.push(`\`inspect: true\` to ${rule}`);
  else if (method !== undefined) parts.push(`${method} to the methods of ${rule}`);
  else if (path !== undefined) parts.push(`${patternWords(path)} to the paths of ${rule}`);
  if (parts.length === 0) return undefined;
  const wider: HostRule = {
    ...value,
    private: value.private || isPrivate === true,
    ...(method !== undefined && methods !== "all" && { methods: [...methods, method] }),
    ...(path !== undefined && { paths: "all" }),
  };
  return { value: wider, words: `add ${parts.join(" and ")}` };
}

/** Whoever copies it gets this path and no other. */
function patternWords(path: string): string {
  const isPlain = path.length <= 200 && !path.includes("*") && requestPathProblem(path) === undefined;
  return isPlain ? `"${path}"` : "a pattern for this path";
}

type Edit = (items: readonly Ruled<HostRule>[], name: HostListName) => readonly Ruled<HostRule>[];

function edited(hosts: Hosts, edit: Edit): Hosts {
  return hosts.map((opinion) => {
    const lists = Object.entries(opinion) as [HostListName, NonNullable<(typeof opinion)[HostListName]>][];
    return Object.fromEntries(lists.map(([name, list]) => [name, { ...list, items: edit(list.items, name) }]));
  });
}

function without(hosts: Hosts, rule: string): Hosts {
  return edited(hosts, (items) => items.filter((item) => item.rule !== rule));
}

function replaced(hosts: Hosts, { rule }: Ruled<HostRule>, value: HostRule): Hosts {
  return edited(hosts, (items) => items.map((item) => (item.rule === rule ? { ...item, value } : item)));
}

function added(hosts: Hosts, list: string, value: HostRule): Hosts {
  return hosts.map((opinion) => {
    const { allow, ask } = opinion;
    if (allow?.rule !== list && ask?.rule !== list) return opinion;
    const items = [{ value, rule: `${list}[+]` }, ...(allow?.items ?? [])];
    return { ...opinion, allow: { rule: allow?.rule ?? list, items } };
  });
}

function moved(hosts: Hosts, rule: string): Hosts {
  return hosts.map((opinion) => {
    const item = opinion.ask?.items.find((one) => one.rule === rule);
    if (!item || !opinion.ask) return opinion;
    const ask = { ...opinion.ask, items: opinion.ask.items.filter((one) => one !== item) };
    const items = [item, ...(opinion.allow?.items ?? [])];
    return { ...opinion, ask, allow: { rule: opinion.allow?.rule ?? rule, items } };
  });
}
