import { type Layer, LIST_NAMES, LISTS, type RuledList } from "./layer.ts";

/** The words of one person over those below: leaf by leaf they replace, but what protects adds up. */
export function over(below: Layer, above: Layer): Layer {
  const lists = { ...below.lists, ...above.lists };
  for (const name of LIST_NAMES.filter((leaf) => LISTS[leaf] === "union")) {
    const both = joined(below.lists[name], above.lists[name]);
    if (both) lists[name] = both;
  }
  const deny = joined(below.hosts.deny, above.hosts.deny);
  return {
    numbers: { ...below.numbers, ...above.numbers },
    choices: { ...below.choices, ...above.choices },
    lists,
    hosts: { ...below.hosts, ...above.hosts, ...(deny && { deny }) },
    picks: { ...below.picks, ...above.picks },
  };
}

/** What a person says on the command line, over their files: hosts are added to those, all else replaces. */
export function withFlags(below: Layer, flags: Layer): Layer {
  const { allow: added, ...hosts } = flags.hosts;
  const words = over(below, { ...flags, hosts });
  const allow = joined(added, words.hosts.allow);
  return allow ? { ...words, hosts: { ...words.hosts, allow } } : words;
}

function joined<T>(below: RuledList<T> | undefined, above: RuledList<T> | undefined): RuledList<T> | undefined {
  if (!below || !above) return below ?? above;
  return { rule: above.rule, items: [...below.items, ...above.items] };
}
