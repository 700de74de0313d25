import { isWithin } from "../core/path-rules.ts";
import { type Bounds, type HostOpinion, rank } from "./bounds.ts";
import { decisionOf } from "./decide.ts";
import { commandRulesOf, decideCommand } from "./decide-command.ts";
import { isFlag } from "./decide-host.ts";
import { hostText } from "./host-text.ts";
import { covers, deniesAll, type HostRule } from "./hosts.ts";
import { CHOICE_NAMES, type Layer, LIST_NAMES, LISTS, NUMBERS, type Ruled } from "./layer.ts";
import type { ApprovalSetting } from "./policy.ts";

/** A request that was not granted: what and by which rule, and the rule that stands against it. */
export type Dropped = { rule: string; asked: string; by: string; kept: string };

/** `project/limits.cpus (8): organisation/limits.cpus keeps 2`. */
export function droppedWords({ rule, asked, by, kept }: Dropped): string {
  return `${rule} (${asked}): ${by} keeps ${kept}`;
}

/** What a layer asks for beyond a ceiling. What is built in asks for nothing. */
export function droppedFrom(asking: Layer, ceiling: Bounds): Dropped[] {
  const all = [
    ...numbers(asking, ceiling),
    ...choices(asking, ceiling),
    ...lists(asking, ceiling),
    ...commands(asking, ceiling),
    ...hosts(asking, ceiling),
  ];
  return all.filter(({ rule }) => !rule.startsWith("built-in/"));
}

function numbers(asking: Layer, ceiling: Bounds): Dropped[] {
  return NUMBERS.flatMap((name) => {
    const [asked, kept] = [asking.numbers[name], ceiling.numbers[name]];
    return asked && kept && asked.value > kept.value ? [dropped(asked, kept.rule, String(kept.value))] : [];
  });
}

function choices(asking: Layer, ceiling: Bounds): Dropped[] {
  return CHOICE_NAMES.flatMap((name) => {
    const [asked, kept] = [asking.choices[name], ceiling.choices[name]];
    return asked && kept && rank(name, asked.value) < rank(name, kept.value)
      ? [dropped(asked, kept.rule, kept.value)]
      : [];
  });
}

/** Protections add up, so only what permits can be too much. */
function lists(asking: Layer, ceiling: Bounds): Dropped[] {
  return LIST_NAMES.flatMap((name) => {
    const [asked, kept] = [asking.lists[name], ceiling.lists[name]];
    // Which image is taken is decided elsewhere; listing some asks for none.
    if (!asked || !kept || ["union", "prefixes"].includes(LISTS[name]) || name === "images") return [];
    const isKept = ({ value }: Ruled<string>): boolean =>
      LISTS[name] === "folders" ? kept.items.some((item) => isWithin(value, item.value)) : has(kept.items, value);
    // What only one of both lists does not hold for either.
    const stays = LISTS[name] === "folders" ? kept.items : kept.items.filter(({ value }) => has(asked.items, value));
    const words = stays.map(({ value }) => value).join(", ") || "nothing";
    return asked.items.filter((item) => !isKept(item)).map((item) => dropped(item, kept.rule, words));
  });
}

/** A command that is to go without a question, and for which others want one. */
function commands(asking: Layer, ceiling: Bounds): Dropped[] {
  const exec = ceiling.choices["approval.exec"] ?? { value: "allow", rule: "" };
  const base = decisionOf("exec", exec.value as ApprovalSetting, exec.rule);
  return (asking.lists["commands.allow"]?.items ?? []).flatMap((item) => {
    const { type, rule } = decideCommand(commandRulesOf(ceiling), base, item.value);
    return type === "allow" ? [] : [dropped(item, rule, type)];
  });
}

function has(items: readonly Ruled<string>[], value: string): boolean {
  return items.some((item) => item.value === value);
}

function hosts(asking: Layer, ceiling: Bounds): Dropped[] {
  const net = ceiling.choices["approval.net"];
  return (["allow", "ask"] as const).flatMap((name) =>
    (asking.hosts[name]?.items ?? []).flatMap((item) => {
      const against =
        net?.value === "deny"
          ? [{ by: net.rule, kept: NO_CONNECTION }]
          : ceiling.hosts.flatMap((opinion) => rulesAgainst(opinion, name, item));
      return against.slice(0, 1).map((found) => ({ rule: item.rule, asked: hostText(item.value), ...found }));
    }),
  );
}

type Against = Pick<Dropped, "by" | "kept">;

const NO_CONNECTION = "no connection without it";

/** The rule of an opinion that does not let all of `asked` happen as it is asked for. */
function rulesAgainst(opinion: HostOpinion, name: "allow" | "ask", asked: Ruled<HostRule>): Against[] {
  const denied = opinion.deny?.items.find(({ value }) => deniesAll(value, asked.value));
  if (denied) return [{ by: denied.rule, kept: NO_CONNECTION }];
  const questions = granting(opinion, "ask", asked.value);
  const isOwnFlag = isFlag(asked) && opinion.allow?.items.some(({ rule }) => rule === asked.rule);
  if (name === "allow" && questions && !isOwnFlag) return [{ by: questions.rule, kept: "a question" }];
  const granted = (name === "ask" ? questions : undefined) ?? granting(opinion, "allow", asked.value);
  if (granted) return privateAgainst(granted, asked);
  const list = opinion.allow ?? (name === "ask" ? opinion.ask : undefined);
  return list ? [{ by: list.rule, kept: NO_CONNECTION }] : [];
}

/** The rule that grants all of `asked`; if none does, one that grants it at public addresses. */
function granting(opinion: HostOpinion, name: "allow" | "ask", asked: HostRule): Ruled<HostRule> | undefined {
  const items = opinion[name]?.items ?? [];
  const atPublic = { ...asked, private: false };
  return items.find(({ value }) => covers(value, asked)) ?? items.find(({ value }) => covers(value, atPublic));
}

/** Which addresses a package manager's host has is its configuration's business. */
function privateAgainst(granted: Ruled<HostRule>, { value, rule }: Ruled<HostRule>): Against[] {
  if (!value.private || granted.value.private || value.registry !== undefined) return [];
  // The words of a project that is trusted: its own rule, without this.
  const by = granted.rule === rule ? "built-in/network.private" : granted.rule;
  return [{ by, kept: "public addresses only" }];
}

function dropped({ value, rule }: Ruled<string | number>, by: string, kept: string): Dropped {
  return { rule, asked: String(value), by, kept };
}
