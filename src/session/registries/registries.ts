import { type HostRule, unaskedRegistry } from "../../policy/hosts.ts";
import type { HostListName, Layer, Ruled, RuledList } from "../../policy/layer.ts";
import type { Answer, Silence } from "./answer.ts";
import { askApt } from "./apt.ts";
import { askCargo } from "./cargo.ts";
import { exposedPlace, firstExposed } from "./exposure.ts";
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

/** `isAsking`: a person stands behind it, so package managers are run on its word. */
export type AskingLayer = { layer: Layer | undefined; isAsking: boolean };

export type Resolved = {
  layers: (Layer | undefined)[];
  warnings: string[];
  /** Rules that restrict hosts which are not, or not all, known: to leave them out would admit more. */
  open: { rule: string; why: string }[];
};

/**
 * Layers whose rules for package managers, `{ registry: npm }`, have become rules for the hosts that the package
 * manager of this machine is configured for, all with the id of that rule; `warnings` name these hosts. A rule that
 * names none admits nothing, and is named there, too. One in a layer that asks nobody stays as it is, and matches
 * nothing, unless another layer asks.
 */
export async function resolveRegistries(all: readonly AskingLayer[], programs: Programs): Promise<Resolved> {
  const asking = all.flatMap(({ layer, isAsking }) => (layer && isAsking ? itemsOf(layer) : []));
  const names = new Set(asking.flatMap(({ value }) => unaskedRegistry(value) ?? []));
  const known = new Map(
    await Promise.all([...names].map(async (name) => [name, await learn(name, programs)] as const)),
  );
  const layers = all.map(({ layer }) => layer);
  const found = layers.flatMap((layer) => (layer ? itemsOf(layer) : []));
  return {
    layers: layers.map((layer) => layer && { ...layer, hosts: resolved(layer.hosts, known) }),
    warnings: found.flatMap((item) => wordsOn(item, known)),
    open: found.flatMap((item) => openWords(item, known)),
  };
}

type Known = { places: RegistryPlace[]; problems: string[]; notes: string[] };

async function learn(name: string, programs: Programs): Promise<Known> {
  const answer = await safeAnswer(name, programs);
  if ("problem" in answer) return { places: [], problems: [`${name} ${answer.problem}`], notes: [] };
  const { places, problems } = placesOf(answer.urls);
  return { places, problems, notes: (answer.notes ?? []).map((note) => `${name} ${note}`) };
}

async function safeAnswer(name: string, programs: Programs): Promise<Answer | Silence> {
  const exposed = await exposedPlace(name, programs);
  if (exposed !== undefined) return { problem: `is not asked: ${exposedWords(exposed)}` };
  const answer = (await ASK[name]?.(programs)) ?? { problem: "is no package manager that can be asked" };
  const file = "files" in answer ? await firstExposed(answer.files ?? [], programs.root) : undefined;
  return file === undefined ? answer : { problem: `is not heard: ${exposedWords(file)}` };
}

function exposedWords(place: string): string {
  return `it takes code or configuration from \`${place}\`, which the workspace can change; work in another folder, or name the hosts`;
}

type Item = Ruled<HostRule> & { list: HostListName };

function itemsOf({ hosts }: Layer): Item[] {
  return (["allow", "ask", "deny"] as const).flatMap((list) =>
    (hosts[list]?.items ?? []).map((item) => ({ ...item, list })),
  );
}

function wordsOn({ value, rule }: Item, all: ReadonlyMap<string, Known>): string[] {
  const name = unaskedRegistry(value);
  if (name === undefined) return [];
  const known = all.get(name);
  if (!known) return [`${rule}: ${unaskedWords(name)}`];
  const { places, problems, notes } = known;
  if (places.length === 0) return [`${rule}: names no host, so it has no effect: ${silenceWords(name, known)}`];
  const uses = `${name} uses ${placeWords(places)}`;
  return [uses, ...problems, ...notes].map((words) => `${rule}: ${words}`);
}

function openWords({ value, rule, list }: Item, all: ReadonlyMap<string, Known>): Resolved["open"] {
  const name = unaskedRegistry(value);
  if (name === undefined || list === "allow") return [];
  const known = all.get(name);
  if (!known) return [{ rule, why: unaskedWords(name) }];
  if (known.places.length > 0 && known.problems.length === 0 && known.notes.length === 0) return [];
  return [{ rule, why: silenceWords(name, known) }];
}

function unaskedWords(name: string): string {
  return `${name} is not asked on the word of a project that is not trusted; \`{ registry: ${name} }\` in your own policy asks it`;
}

function silenceWords(name: string, { problems, notes }: Known): string {
  return [...problems, ...notes].join("; ") || `${name} is configured for none`;
}

const MOST_SHOWN = 10;

function placeWords(places: readonly RegistryPlace[]): string {
  const shown = places
    .slice(0, MOST_SHOWN)
    .map(({ host, ports }) => (ports.join() === "443" ? host : `${host}:${ports.join("+")}`));
  const more = places.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
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
  const known = name === undefined ? undefined : all.get(name);
  if (name === undefined || !known) return [item];
  const { value, rule } = item;
  return known.places.map(({ host, ports }) => ({
    rule,
    value: { ...value, host, registry: name, private: true, ports: value.ports === "all" ? "all" : ports },
  }));
}
