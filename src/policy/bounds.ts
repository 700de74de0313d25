import { isWithin } from "../core/path-rules.ts";
import { isPrefixWithin } from "./command-prefix.ts";
import type { HostRule } from "./hosts.ts";
import {
  CHOICE_NAMES,
  CHOICES,
  type ChoiceName,
  type Layer,
  LIST_NAMES,
  LISTS,
  type ListName,
  NUMBERS,
  type NumberName,
  type Ruled,
  type RuledList,
} from "./layer.ts";

/** What one origin says of hosts. Several are never made into one: a connection is judged by each of them. */
export type HostOpinion = Layer["hosts"];

/**
 * What a set of layers binds a session to. `meet` makes the strictest of two: for every decision, never looser than
 * either. In one order, without doubles: two bounds with the same decisions by the same rules are equal.
 */
export type Bounds = Omit<Layer, "hosts" | "picks"> & { hosts: readonly HostOpinion[] };

/** No opinion on anything: the neutral element of {@link meet}. */
export const UNBOUND: Bounds = { numbers: {}, choices: {}, lists: {}, hosts: [] };

export function boundsOf({ numbers, choices, lists: said, hosts }: Layer): Bounds {
  const lists = { ...said, "commands.allow": exceptions(said["commands.allow"], choices["approval.exec"]) };
  const sorted: Bounds["lists"] = {};
  for (const name of LIST_NAMES) {
    const list = lists[name];
    if (list) sorted[name] = { rule: list.rule, items: inOrder(outermost(list.items, LISTS[name])) };
  }
  return { numbers, choices, lists: sorted, hosts: Object.keys(hosts).length === 0 ? [] : [hosts] };
}

/**
 * Allow rules are exceptions from the question of their own layer and of no other: a layer that does not ask makes no
 * exceptions and stands against none, one that asks without exceptions has an empty list of them.
 */
function exceptions(
  allow: RuledList<string> | undefined,
  exec: Ruled<string> | undefined,
): RuledList<string> | undefined {
  if (!exec || exec.value === "allow") return undefined;
  return exec.value === "ask" && allow ? allow : { rule: exec.rule, items: [] };
}

/** The tighter of two for every decision; pure, associative, commutative, idempotent. */
export function meet(a: Bounds, b: Bounds): Bounds {
  return {
    numbers: meetEach<NumberName, Ruled<number>>(NUMBERS, [a.numbers, b.numbers], (x, y) =>
      tighter(x, y, x.value - y.value),
    ),
    choices: meetEach<ChoiceName, Ruled<string>>(CHOICE_NAMES, [a.choices, b.choices], (x, y, name) =>
      tighter(x, y, rank(name, y.value) - rank(name, x.value)),
    ),
    lists: meetEach<ListName, RuledList<string>>(LIST_NAMES, [a.lists, b.lists], (x, y, name) => {
      const items = MEET_ITEMS[LISTS[name]](x.items, y.items);
      return { rule: ruleBehind(items, x, y), items };
    }),
    hosts: distinct([...a.hosts, ...b.hosts]),
  };
}

function meetEach<Name extends string, T>(
  names: readonly Name[],
  [a, b]: [Partial<Record<Name, T>>, Partial<Record<Name, T>>],
  both: (x: T, y: T, name: Name) => T,
): Partial<Record<Name, T>> {
  const met: Partial<Record<Name, T>> = {};
  for (const name of names) {
    const [x, y] = [a[name], b[name]];
    const value = x !== undefined && y !== undefined ? both(x, y, name) : (x ?? y);
    if (value !== undefined) met[name] = value;
  }
  return met;
}

/** How tight a word is; 0 is the loosest. */
export function rank(name: ChoiceName, value: string): number {
  return (CHOICES[name] as readonly string[]).indexOf(value);
}

/** `order` below zero: the first is the tighter. Of equal ones the rule that comes first by its id. */
function tighter<T>(x: Ruled<T>, y: Ruled<T>, order: number): Ruled<T> {
  if (order !== 0) return order < 0 ? x : y;
  return x.rule <= y.rule ? x : y;
}

type Items = readonly Ruled<string>[];

const MEET_ITEMS: Record<(typeof LISTS)[ListName], (a: Items, b: Items) => Items> = {
  union: (a, b) => inOrder([...a, ...b]),
  intersection: (a, b) => {
    const values = (items: Items) => new Set(items.map(({ value }) => value));
    const [inA, inB] = [values(a), values(b)];
    return inOrder([...a, ...b].filter(({ value }) => inA.has(value) && inB.has(value)));
  },
  folders: (a, b) => common(a, b, isWithin),
  prefixes: (a, b) => common(a, b, isPrefixWithin),
};

type Within = (inner: string, outer: string) => boolean;

/** What lies in an item of the other list, from both. */
function common(a: Items, b: Items, isIn: Within): Items {
  const inAny = (item: Ruled<string>, outer: Items) => outer.some(({ value }) => isIn(item.value, value));
  return inOrder([...a.filter((item) => inAny(item, b)), ...b.filter((item) => inAny(item, a))]);
}

/** Without what lies in another of the list, where items can. */
function outermost(items: Items, kind: (typeof LISTS)[ListName]): Items {
  if (kind !== "folders" && kind !== "prefixes") return items;
  const isIn = kind === "folders" ? isWithin : isPrefixWithin;
  return items.filter(({ value }) => !items.some((other) => other.value !== value && isIn(value, other.value)));
}

/** By value, each once, with the rule that comes first by its id. */
function inOrder(items: Items): Items {
  const byValue = new Map<string, Ruled<string>>();
  for (const item of items) {
    const before = byValue.get(item.value);
    if (!before || item.rule < before.rule) byValue.set(item.value, item);
  }
  return [...byValue.values()].toSorted((x, y) => (x.value < y.value ? -1 : 1));
}

function distinct(opinions: readonly HostOpinion[]): HostOpinion[] {
  const byText = new Map(opinions.map((opinion) => [JSON.stringify(canonical(opinion)), opinion]));
  return [...byText].toSorted(([x], [y]) => (x < y ? -1 : 1)).map(([, opinion]) => opinion);
}

function canonical({ allow, ask, deny }: HostOpinion): (RuledList<HostRule> | null)[] {
  return [allow ?? null, ask ?? null, deny ?? null];
}

/** The list that made the result what it is; of two that agree the one that comes first by its id. */
function ruleBehind(items: Items, x: RuledList<string>, y: RuledList<string>): string {
  const isSame = (list: RuledList<string>): boolean =>
    list.items.length === items.length && list.items.every(({ value }, index) => value === items[index]?.value);
  if (isSame(x) !== isSame(y)) return isSame(x) ? x.rule : y.rule;
  return [x.rule, y.rule].toSorted()[0] ?? x.rule;
}
