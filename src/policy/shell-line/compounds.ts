import { expandsAgain, isCodeVariable } from "./hidden-code.ts";
import { type Source, Unparsed } from "./source.ts";
import type { Word } from "./word.ts";
import type { Words } from "./words.ts";

/** What compound commands are made of. */
export type Parts = {
  source: Source;
  words: Words;
  /** Reads commands up to and with one of these ends, and says which it was. */
  list: (...ends: string[]) => string;
  /** Skips blanks, comments and newlines. */
  lines: () => void;
  /** The same between words, where no command can begin. */
  innerLines: () => void;
  /** Something runs that cannot be seen. */
  unknown: () => void;
};

const NAMES = "if|then|elif|else|fi|for|select|while|until|do|done|case|esac|function|time|coproc|\\[\\[|[{}!]";
/** A reserved word and the end of it. */
export const RESERVED: RegExp = new RegExp(`(?:${NAMES})(?=[ \\t\\n;&|()<>]|$)`, "y");
export const RESERVED_WORD: RegExp = new RegExp(`^(?:${NAMES})$`);
const IN = /in(?=[ \t\n;&|()<>]|$)/y;
const ESAC = /esac(?=[ \t\n;&|()<>]|$)/y;
/** What ends a list of commands and is no word. */
export const LIST_END: RegExp = /;;&|;[;&]|\)/y;
const TEST_OPERATOR = /&&|\|\||[()|<>]/y;

export function unexpected({ at }: Source): Unparsed {
  return new Unparsed(`it is not understood from character ${at + 1} on`);
}

export function requireWord({ words, source }: Pick<Parts, "words" | "source">): Word {
  const word = words.read();
  if (!word) throw unexpected(source);
  return word;
}

/** Reads the compound command that began with `opening`, to its last word. */
export function readCompound(opening: string, parts: Parts): unknown {
  switch (opening) {
    case "{":
      return parts.list("}");
    case "if":
      return readIf(parts);
    case "while":
    case "until":
      parts.list("do");
      return parts.list("done");
    case "for":
    case "select":
      return readFor(parts);
    case "case":
      return readCase(parts);
    case "[[":
      return readTest(parts);
    default:
      throw unexpected(parts.source);
  }
}

function readIf({ list }: Parts): void {
  let end = "elif";
  while (end === "elif") {
    list("then");
    end = list("elif", "else", "fi");
  }
  if (end === "else") list("fi");
}

function readFor(parts: Parts): void {
  const { source, words, list, lines } = parts;
  source.skipBlanks();
  if (source.eat("((")) words.readArithmetic();
  else {
    if (isCodeVariable(requireWord(parts).text)) parts.unknown();
    lines();
    if (source.take(IN) !== undefined) readWords(parts);
  }
  source.skipBlanks();
  if (!source.match(LIST_END)) source.eat(";");
  lines();
  const opening = source.take(RESERVED);
  if (opening !== "do" && opening !== "{") throw unexpected(source);
  list(opening === "do" ? "done" : "}");
}

function readCase(parts: Parts): void {
  const { source, list, lines } = parts;
  source.skipBlanks();
  requireWord(parts);
  lines();
  if (source.take(IN) === undefined) throw unexpected(source);
  for (lines(); source.take(ESAC) === undefined; lines()) {
    source.eat("(");
    do readWords(parts);
    while (source.eat("|"));
    if (!source.eat(")")) throw unexpected(source);
    if (list(";;", "esac") === "esac") return;
  }
}

/** A condition: only what is expanded in its words matters. */
function readTest({ source, words, innerLines, unknown }: Parts): void {
  for (;;) {
    innerLines();
    const word = words.read();
    if (word?.text === "]]" && !word.isQuoted) return;
    if (word && expandsAgain(word.text)) unknown();
    if (!word && source.take(TEST_OPERATOR) === undefined) throw unexpected(source);
  }
}

function readWords({ source, words, unknown }: Parts): void {
  for (source.skipBlanks(); source.peek() !== "#"; source.skipBlanks()) {
    const word = words.read();
    if (!word) return;
    if (expandsAgain(word.text)) unknown();
  }
}
