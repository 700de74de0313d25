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
export function decideCommand(rules: CommandRules, base: Decision, text: string): Decision {
  const isSettled = rules.restrict.length === 0 && (rules.allow.length === 0 || base.type !== "ask");
  return isSettled ? base : decideLine(rules, base, analyse(text));
}

/** As {@link decideCommand}, of a text that has been analysed. */
export function decideLine({ restrict, allow }: CommandRules, base: Decision, line: ShellLine): Decision {
  const lifted = base.type === "ask" ? liftedBy(allow, line) : undefined;
  const seen = restrict.map((rule) => ({ rule, match: matchLine(rule.words, line) }));
  const certain = seen.filter(({ match }) => match === "yes").map(({ rule }) => decisionBy(rule));
  const possible = seen.filter(({ match }) => match === "maybe").map(({ rule }) => asks(rule.rule, SPELL_OUT));
  // Of equally strict ones the first is named, and a rule of the command says more than one of all commands.
  return [...certain, lifted ?? base, ...possible].reduce(stricter);
}

/** The stricter of two; of equal ones an organisation's, since only a person may answer it, then the first. */
export function stricter(a: Decision, b: Decision): Decision {
  return weightOf(b) > weightOf(a) ? b : a;
}

const STRICTNESS = { allow: 0, ask: 2, deny: 4 } as const satisfies Record<Decision["type"], number>;

function weightOf({ type, rule }: Decision): number {
  return STRICTNESS[type] + (rule.startsWith("organisation/") ? 1 : 0);
}

function liftedBy(allow: CommandRules["allow"], { plain }: ShellLine): Decision | undefined {
  const found = plain && allow.find(({ words }) => words.every((word, index) => word === plain[index]));
  return found && { type: "allow", rule: found.rule };
}

function decisionBy({ decision, rule }: RestrictingRule): Decision {
  return decision === "deny" ? { type: "deny", rule, enableWith: CHANGE } : asks(rule);
}

function asks(rule: string, first = ""): Decision {
  const flag = rule.startsWith("organisation/") ? "" : "run with `--approve auto`, or ";
  return { type: "ask", rule, enableWith: `${first}answer at a terminal, or ${flag}${CHANGE}` };
}

const CHANGE = "change that rule of `commands`";
/** Whoever wrote the text can do this, be it a model. */
const SPELL_OUT = "write the command without what only a shell can know, ";

type Match = "yes" | "maybe" | "no";

function matchLine(words: Argv, { commands, unparsed }: ShellLine): Match {
  const matches = commands.map((argv) => match(words, argv));
  if (matches.includes("yes")) return "yes";
  return unparsed !== undefined || matches.includes("maybe") ? "maybe" : "no";
}

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
