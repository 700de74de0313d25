import type { Decision } from "../core/effects.ts";
import type { Bounds } from "./bounds.ts";
import { analyse } from "./shell-line/analyse.ts";
import { GLOBAL_OPTIONS, isListed, optionLength } from "./shell-line/programs.ts";
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

/** Whether a command begins with the words of a rule, as it stands or without the options between them. */
function match(words: Argv, argv: Argv): Match {
  const [program = "", ...args] = argv;
  if (!isKnown(program)) return "maybe";
  return program === programName(words[0] ?? "") ? matchWords(program, words.slice(1), args) : "no";
}

function matchWords(program: string, wanted: Argv, args: Argv): Match {
  let at = 0;
  for (const word of wanted) {
    const skipped = skipOptions(program, args.slice(at), word);
    if (skipped === "hidden") return "maybe";
    const found = args[at + skipped.length];
    if (found !== undefined && !isKnown(found)) return "maybe";
    if (found !== word) return !skipped.isSure && args.slice(at).some((next) => mayBe(word, next)) ? "maybe" : "no";
    at += skipped.length + 1;
  }
  return "yes";
}

/** Nobody hides an option as the value of another. */
function mayBe(word: string, next: string): boolean {
  return next === word || (!isKnown(next) && !word.startsWith("-"));
}

const NO_OPTIONS = { letters: "", names: [], flags: [] };

/** The options before the next word of a rule, and whether all are known; `hidden` when anything may follow them. */
function skipOptions(program: string, args: Argv, word: string): { length: number; isSure: boolean } | "hidden" {
  const options = Object.hasOwn(GLOBAL_OPTIONS, program) ? (GLOBAL_OPTIONS[program] ?? NO_OPTIONS) : NO_OPTIONS;
  let length = 0;
  let isSure = true;
  for (let option = args[0]; option !== undefined && isOption(option) && option !== word; option = args[length]) {
    const taken = args.slice(length, length + optionLength(option, options));
    if (taken.some((part) => part.includes(SPLIT)) || definesAlias(program, taken)) return "hidden";
    if (!isKnown(option) && word.startsWith("-")) return "hidden";
    isSure &&= isListed(option, options);
    length += taken.length;
  }
  return { length, isSure };
}

/** Also `+nightly`, which `cargo` takes for a toolchain. */
function isOption(word: string): boolean {
  return word.startsWith("-") || word.startsWith("+");
}

/** `git -c alias.x=push x`. */
function definesAlias(program: string, option: Argv): boolean {
  return program === "git" && option.some((word) => /^(?:-c|--config-env=)?alias\./i.test(word));
}
