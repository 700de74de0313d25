import type { Json } from "../core/json.ts";
import { visible, visibleLine } from "../core/visible.ts";
import type { Answer, Question } from "../gate/approver.ts";
import type { Paint } from "./paint.ts";

/** More blanks than this in a row are counted instead of shown: what stands behind them must not leave the screen. */
const MAX_BLANKS = 8;
const MAX_EMPTY_LINES = 3;
/** Of more lines than this the number is said. */
const MANY_LINES = 20;

/** The question as it stands on the terminal: everything the call would run with, nothing hidden in it. */
export function questionLines(question: Question, paint: Paint): string[] {
  const args = Object.entries(question.args).flatMap(([name, value]) => argumentLines(name, value));
  return [
    paint("bold", `Allow ${visibleLine(question.tool)}?`),
    ...args.map((line) => `  ${line}`),
    paint("dim", `rule ${visibleLine(question.rule)}; ${alwaysWords(question)}`),
  ];
}

function alwaysWords({ grant }: Question): string {
  return grant === null
    ? 'no "always": this is more than one plain command'
    : `"always" covers ${showBlanks(visibleLine(grant))}, until the session ends`;
}

/** The line the answer is typed on. */
export function answerPrompt({ grant }: Question): string {
  return grant === null ? "[y]es, [n]o, or why not: " : "[y]es, [n]o, [a]lways, or why not: ";
}

/** Anything but a clear yes is a no, and its words are the reason. */
export function parseAnswer(line: string): Answer {
  const text = line.trim();
  switch (text.toLowerCase()) {
    case "y":
    case "yes":
      return { type: "yes", scope: "call" };
    case "a":
    case "always":
      return { type: "yes", scope: "session" };
    case "":
    case "n":
    case "no":
      return { type: "no", reason: null };
    default:
      return { type: "no", reason: text };
  }
}

function argumentLines(name: string, value: Json): string[] {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const lines = showBlanks(visible(text)).split("\n");
  const label = visibleLine(name);
  if (lines.length === 1) return [`${label}: ${lines[0]}`];
  // What scrolls away must be missed, and a bar before each line keeps text of the model's from being taken for ours.
  const count = lines.length > MANY_LINES ? ` (${lines.length} lines)` : "";
  return [`${label}${count}:`, ...lines.map((line) => `│ ${line}`)];
}

/** `text` with long runs of blanks, of tabs and of empty lines replaced by how many there were. */
export function showBlanks(text: string): string {
  return text
    .replace(BLANKS, (run) => `${/[^\t]/.test(run) ? "␣" : "⇥"}×${[...run].length}`)
    .replace(NEWLINES, (run) => `\n(${run.split("\n").length - 2} empty lines)\n`);
}

// Every kind of blank that takes room without a mark: space, no-break space, en quad to hair space, ideographic space …
const BLANK = "[ \\t\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u2800\\u3000]";
const BLANKS = new RegExp(`${BLANK}{${MAX_BLANKS + 1},}`, "g");
const NEWLINES = new RegExp(`\n(?:${BLANK}*\n){${MAX_EMPTY_LINES + 1},}`, "g");
