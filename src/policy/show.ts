import type { Json } from "../core/json.ts";
import type { Bounds } from "./bounds.ts";
import { decideHost } from "./decide-host.ts";
import { hostText, placeText } from "./host-text.ts";
import { cornersOf, type HostRule } from "./hosts.ts";
import { CHOICE_NAMES, type HostListName, LIST_NAMES, LISTS, type ListName, NUMBERS, type Ruled } from "./layer.ts";
import type { Picked } from "./policy.ts";
import { protectionsOf } from "./protections.ts";

/** One line of a policy in force: a key, its value, and which rule made it or each of its items. */
export type ShownLeaf = { key: string; value: Json; origin: string | Record<string, string> };

/** Every value of the policy in force. Numbers as numbers, sizes in bytes, times in the unit of the key. */
export function shownLeaves({ numbers, choices, lists, hosts }: Bounds, picked: Picked): ShownLeaf[] {
  const protections = protectionsOf({ lists, choices });
  const leaves: (ShownLeaf | undefined)[] = [
    { key: "image", value: picked.image.value, origin: picked.image.rule },
    picked.runtime && { key: "sandbox.runtime", value: picked.runtime.value, origin: picked.runtime.rule },
    ...CHOICE_NAMES.map((key) => {
      const choice = choices[key];
      return choice && { key, value: plain(choice.value), origin: choice.rule };
    }),
    ...LIST_NAMES.filter((key) => !isShownOtherwise(key)).map((key) => {
      const list = lists[key];
      return list && listLeaf(key, list.items);
    }),
    listLeaf("workspace.readonly", protections.readonly),
    listLeaf("workspace.hidden", protections.hidden),
    listLeaf("commands", commandItems(lists)),
    ...(["allow", "ask", "deny"] as const).map((name) => listLeaf(`network.${name}`, hostItems(hosts, name))),
    ...NUMBERS.map((key) => {
      const number = numbers[key];
      return number && { key, value: key === "limits.minutes" ? number.value / 60 : number.value, origin: number.rule };
    }),
  ];
  return leaves.filter((leaf) => leaf !== undefined).toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** Several lists of which something is made that is shown instead. */
function isShownOtherwise(key: ListName): boolean {
  if (LISTS[key] === "prefixes") return true;
  return ["workspace.readonly", "workspace.hidden", "workspace.protected", "commands.restrict"].includes(key);
}

function listLeaf(key: string, items: readonly Ruled<string>[]): ShownLeaf {
  return {
    key,
    value: items.map(({ value }) => value),
    origin: Object.fromEntries(items.map(({ value, rule }) => [value, rule])),
  };
}

/** As `ask git push`. */
function commandItems(lists: Bounds["lists"]): Ruled<string>[] {
  const allow = lists["commands.allow"]?.items ?? [];
  return [
    ...(lists["commands.restrict"]?.items ?? []),
    ...allow.map(({ value, rule }) => ({ value: `allow ${value}`, rule })),
  ];
}

/** The hosts somebody lists and everybody lets stand so, in all that the rule says of them. */
function hostItems(hosts: Bounds["hosts"], name: HostListName): Ruled<string>[] {
  const items = hosts.flatMap((opinion) => opinion[name]?.items ?? []);
  if (name === "deny") return items.map(({ value, rule }) => ({ value: placeText(value), rule }));
  const holds = (value: HostRule): boolean => cornersOf(value).every((probe) => decideHost(hosts, probe).type === name);
  return items.flatMap(({ value, rule }) => {
    // What others keep to public addresses is admitted there all the same.
    const held = [value, { ...value, private: false }].find(holds);
    return held ? [{ value: hostText(held), rule }] : [];
  });
}

function plain(value: string): Json {
  return value === "true" || value === "false" ? value === "true" : value;
}

/** The leaves as the sections of a policy file. */
export function asSections(leaves: readonly ShownLeaf[]): Record<string, Json> {
  const sections: Record<string, Json> = { version: 1 };
  for (const { key, value } of leaves) {
    const [section = "", name] = key.split(".");
    if (name === undefined) sections[section] = value;
    else sections[section] = { ...(sections[section] as Record<string, Json> | undefined), [name]: value };
  }
  return sections;
}
