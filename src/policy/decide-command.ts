import type { Decision } from "../core/effects.ts";
import type { Bounds } from "./bounds.ts";
import { analyse } from "./shell-line/analyse.ts";
import { GLOBAL_OPTIONS, optionLength } from "./shell-line/programs.ts";
import { type Argv, isKnown, programName, type ShellLine, SPLIT } from "./shell-line/shell-line.ts";

export type RestrictingRule = { words: Argv; decision: "ask" | "deny"; rule: string };

/** What is said of commands. */
export type CommandRules = {
  restrict: readonly RestrictingRule[];
  /** Plain commands that begin with these words are not asked for although commands are. */
  allow: readonly { words: Argv; rule: string }[];
};

/** The rules of bounds as they are compared with commands. */
export function commandRulesOf({ lists }: Pick<Bounds, "lists">): CommandRules {
  const restrict = (lists["commands.restrict"]?.items ?? []).map(({ value, rule }): RestrictingRule => {
    const [decision = "", ...words] = value.split(" ");
    return { words, decision: decision === "deny" ? "deny" : "ask", rule };
  });
  const allow = (lists["commands.allow"]?.items ?? []).map(({ value, rule }) => ({ words: value.split(" "), rule }));
  return { restrict, allow };
}

/**
 * What is decided of a shell text. `base` is what holds for commands as a whole. The strictest rule that matches any of
 * the commands in the text wins; what cannot be seen is asked for as soon as there is a rule it might be hidden from.
 */
export function decideCommand({ restrict, allow }: CommandRules, base: Decision, text: string): Decision {
  if (restrict.length === 0 && (allow.length === 0 || base.type !== "ask")) return base;
  const line = analyse(text);
  const lifted = base.type === "ask" ? liftedBy(allow, line) : undefined;
  return strictest([lifted ?? base, ...restrict.flatMap((rule) => judge(rule, line))]);
}

/** The strictest; of several an organisation's, since only a person may answer it, then the first. */
export function strictest([first, ...rest]: readonly [Decision, ...Decision[]]): Decision {
  return rest.reduce((a, b) => (weightOf(b) > weightOf(a) ? b : a), first);
}

const STRICTNESS = { allow: 0, ask: 2, deny: 4 } as const satisfies Record<Decision["type"], number>;

function weightOf({ type, rule }: Decision): number {
  return STRICTNESS[type] + (rule.startsWith("organisation/") ? 1 : 0);
}

function liftedBy(allow: CommandRules["allow"], { plain }: ShellLine): Decision | undefined {
  const found = plain && allow.find(({ words }) => words.every((word, index) => word === plain[index]));
  return found && { type: "allow", rule: found.rule };
}

function judge({ words, decision, rule }: RestrictingRule, { commands, unparsed }: ShellLine): Decision[] {
  const matches = commands.map((argv) => match(words, argv));
  if (matches.includes("yes")) return [decision === "deny" ? { type: "deny", rule, enableWith: CHANGE } : asks(rule)];
  return unparsed !== undefined || matches.includes("maybe") ? [asks(rule)] : [];
}

function asks(rule: string): Decision {
  const flag = rule.startsWith("organisation/") ? "" : "run with `--approve auto`, or ";
  return { type: "ask", rule, enableWith: `answer at a terminal, or ${flag}${CHANGE}` };
}

const CHANGE = "change that rule of `commands`";

type Match = "yes" | "maybe" | "no";

/** Whether a command begins with the words of a rule, as it stands or without the options before its subcommand. */
function match(words: Argv, argv: Argv): Match {
  const [program = "", ...args] = argv;
  if (!isKnown(program)) return "maybe";
  if (program !== programName(words[0] ?? "")) return "no";
  const wanted = words.slice(1);
  const asIs = matchWords(wanted, args);
  if (asIs === "yes") return asIs;
  const skipped = withoutOptions(program, args);
  const short = skipped === "hidden" ? "maybe" : matchWords(wanted, skipped);
  return asIs === "maybe" && short === "no" ? "maybe" : short;
}

function matchWords(wanted: Argv, args: Argv): Match {
  let isSure = true;
  for (const [index, word] of wanted.entries()) {
    const found = args[index];
    if (found === undefined) return isSure ? "no" : "maybe";
    if (found.includes(SPLIT)) return "maybe";
    if (!isKnown(found)) isSure = false;
    else if (found !== word) return "no";
  }
  return isSure ? "yes" : "maybe";
}

const NO_OPTIONS = { letters: "", names: [] };

/** The arguments from the subcommand on; `hidden` when it cannot be told which that is. */
function withoutOptions(program: string, args: Argv): Argv | "hidden" {
  const options = Object.hasOwn(GLOBAL_OPTIONS, program) ? (GLOBAL_OPTIONS[program] ?? NO_OPTIONS) : NO_OPTIONS;
  let at = 0;
  while (args[at]?.startsWith("-")) {
    const length = optionLength(args[at] ?? "", options);
    const taken = args.slice(at, at + length);
    if (taken.some((word) => word.includes(SPLIT)) || definesAlias(program, taken)) return "hidden";
    at += length;
  }
  const next = args[at];
  return next !== undefined && !isKnown(next) ? "hidden" : args.slice(at);
}

/** `git -c alias.x=push x`. */
function definesAlias(program: string, option: Argv): boolean {
  return program === "git" && option.some((word) => /^(?:-c|--config-env=)?alias\./i.test(word));
}
