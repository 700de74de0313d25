import { type HostRule, unaskedRegistry } from "../../policy/hosts.ts";
import type { Layer, Ruled, RuledList } from "../../policy/layer.ts";
import type { Answer, Silence } from "./answer.ts";
import { askApt } from "./apt.ts";
import { askCargo } from "./cargo.ts";
import { askGo } from "./go.ts";
import { askNpm } from "./npm.ts";
import { askPip } from "./pip.ts";
import { placesOf, type RegistryPlace } from "./places.ts";
import type { Programs } from "./programs.ts";

const ASK: Record<string, (programs: Programs) => Promise<Answer | Silence>> = {
  npm: askNpm,
  pip: askPip,
  cargo: askCargo,
  go: askGo,
  apt: askApt,
};

/**
 * Layers whose rules for package managers, `{ registry: npm }`, have become rules for the hosts that the package
 * manager of this machine is configured for, all with the id of that rule. One that names no host admits nothing, and
 * is named in `warnings`.
 */
export async function resolveRegistries(
  layers: readonly (Layer | undefined)[],
  programs: Programs,
): Promise<{ layers: (Layer | undefined)[]; warnings: string[] }> {
  const items = layers.flatMap((layer) => (layer ? itemsOf(layer) : []));
  const names = new Set(items.flatMap(({ value }) => unaskedRegistry(value) ?? []));
  const known = new Map(
    await Promise.all([...names].map(async (name) => [name, await learn(name, programs)] as const)),
  );
  return {
    layers: layers.map((layer) => layer && { ...layer, hosts: resolved(layer.hosts, known) }),
    warnings: items.flatMap((item) => wordsOn(item, known)),
  };
}

type Known = { places: RegistryPlace[]; problems: string[]; notes: string[] };

async function learn(name: string, programs: Programs): Promise<Known> {
  const answer = (await ASK[name]?.(programs)) ?? { problem: "is no package manager that can be asked" };
  if ("problem" in answer) return { places: [], problems: [`${name} ${answer.problem}`], notes: [] };
  const { places, problems } = placesOf(answer.urls);
  return { places, problems, notes: (answer.notes ?? []).map((note) => `${name} ${note}`) };
}

function itemsOf({ hosts }: Layer): Ruled<HostRule>[] {
  return [hosts.allow, hosts.ask, hosts.deny].flatMap((list) => list?.items ?? []);
}

function wordsOn(item: Ruled<HostRule>, all: ReadonlyMap<string, Known>): string[] {
  const name = unaskedRegistry(item.value);
  const known = name === undefined ? undefined : all.get(name);
  if (!known) return [];
  const { places, problems, notes } = known;
  if (places.length > 0) return [...problems, ...notes].map((words) => `${item.rule}: ${words}`);
  const why = problems.length === 0 ? `${name} is configured for none` : problems.join("; ");
  return [`${item.rule}: names no host, so it has no effect: ${why}`];
}

function resolved(hosts: Layer["hosts"], known: ReadonlyMap<string, Known>): Layer["hosts"] {
  const { allow, ask, deny } = hosts;
  const each = (list: RuledList<HostRule>): RuledList<HostRule> => ({
    rule: list.rule,
    items: list.items.flatMap((item) => rulesFor(item, known)),
  });
  return { ...(allow && { allow: each(allow) }), ...(ask && { ask: each(ask) }), ...(deny && { deny: each(deny) }) };
}

/** The machine's own configuration may name a mirror at a private address; what a project may is settled later. */
function rulesFor(item: Ruled<HostRule>, all: ReadonlyMap<string, Known>): Ruled<HostRule>[] {
  const name = unaskedRegistry(item.value);
  if (name === undefined) return [item];
  const { value, rule } = item;
  return (all.get(name)?.places ?? []).map(({ host, ports }) => ({
    rule,
    value: { ...value, host, registry: name, private: true, ports: value.ports === "all" ? "all" : ports },
  }));
}
