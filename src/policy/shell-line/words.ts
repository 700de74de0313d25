import { readEscapes } from "./escapes.ts";
import { expandsAgain } from "./hidden-code.ts";
import { HOLE, SPLIT } from "./shell-line.ts";
import { type Budget, type Source, Unparsed } from "./source.ts";
import { addBare, addQuoted, type Word } from "./word.ts";

/** What to do with the commands inside words. */
export type Nested = {
  /** Reads commands up to and with the closing parenthesis. */
  commands: () => void;
  /** Skips blanks, comments and newlines. */
  lines: () => void;
  /** Reads a text of its own as commands. */
  code: (text: string) => void;
  /** Something runs that cannot be seen. */
  unknown: () => void;
};

/** Reads words of bash: quotes, escapes, expansions, and what commands are inside them. */
export class Words {
  readonly #source: Source;
  readonly #budget: Budget;
  readonly #nested: Nested;

  constructor(source: Source, budget: Budget, nested: Nested) {
    this.#source = source;
    this.#budget = budget;
    this.#nested = nested;
  }

  /** The word that begins here; undefined when none does. */
  read(): Word | undefined {
    const start = this.#source.at;
    const word: Word = { text: "", bare: 0, isQuoted: false };
    while (this.#readPiece(word));
    return this.#source.at === start ? undefined : word;
  }

  /** Text in which only `$`, backticks and backslashes mean something, up to `end` and with it: `""` is the end of all. */
  readQuoted(end: '"' | ""): string {
    const source = this.#source;
    let text = "";
    for (;;) {
      text += source.take(end === "" ? BODY_RUN : QUOTED_RUN) ?? "";
      const char = source.peek();
      if (char === end) {
        source.at++;
        return text;
      }
      if (char === "") throw new Unparsed("a quote has no end");
      if (char === "\\") text += this.#readQuotedEscape(end);
      else if (char === "`") text += this.#readBackticks(HOLE);
      else text += this.#readDollar(HOLE);
    }
  }

  /** Reads an arithmetic expression up to and with its two closing parentheses, for the commands in it. */
  readArithmetic(): void {
    const source = this.#source;
    this.#budget.nest(() => {
      for (let open = 0; open >= 0; ) {
        source.take(ARITHMETIC_RUN);
        const char = source.peek();
        if (char === "(" || char === ")") {
          open += char === "(" ? 1 : -1;
          source.at++;
        } else this.#skipInner(char, HOLE);
      }
    });
    // `$((a); b)` is a subshell in a substitution. Nobody writes it so without wanting to be misread.
    if (!source.eat(")")) throw new Unparsed("an arithmetic expression has no end");
  }

  #readPiece(word: Word): boolean {
    const source = this.#source;
    const run = source.take(RUN);
    if (run !== undefined) return addBare(word, run);
    switch (source.peek()) {
      case "\\":
        return this.#readEscape(word);
      case "'":
        return addQuoted(word, this.#readSingle());
      case '"':
        source.at++;
        return addQuoted(word, this.readQuoted('"'));
      case "$":
        return this.#readExpansion(word);
      case "`":
        return addBare(word, this.#readBackticks(SPLIT));
      case "~":
        source.at++;
        return addBare(word, isTildePlace(word) ? HOLE : "~");
      case "*":
      case "?":
        source.at++;
        return addBare(word, SPLIT);
      case "[":
      case "{":
        return addBare(word, this.#readBracket(word));
      case "<":
      case ">":
        return this.#readProcess(word);
      case "(":
        return this.#readArray(word);
      default:
        return false;
    }
  }

  #readEscape(word: Word): boolean {
    const source = this.#source;
    const next = source.peek(1);
    source.at += 2;
    if (next === "\n") return true;
    return addQuoted(word, next === "" ? "\\" : next);
  }

  #readQuotedEscape(end: '"' | ""): string {
    const next = this.#source.peek(1);
    this.#source.at += 2;
    if (next === "\n") return "";
    const isEscaped = "$`\\".includes(next) || next === end;
    return isEscaped && next !== "" ? next : `\\${next}`;
  }

  #readSingle(): string {
    const { text, at } = this.#source;
    const end = text.indexOf("'", at + 1);
    if (end === -1) throw new Unparsed("a quote has no end");
    this.#source.at = end + 1;
    return text.slice(at + 1, end);
  }

  /** `[` alone is a program and `{}` is itself; else there may be a pattern or an expansion into several words. */
  #readBracket({ text }: Word): string {
    const char = this.#source.peek();
    const next = this.#source.peek(1);
    this.#source.at++;
    const isAlone = text === "" && " \t\n;&|()<>".includes(next);
    return isAlone || (char === "{" && next === "}") ? char : SPLIT;
  }

  #readProcess(word: Word): boolean {
    if (this.#source.peek(1) !== "(") return false;
    this.#source.at += 2;
    this.#nested.commands();
    return addBare(word, HOLE);
  }

  /** `name=(…)`, also behind `declare` and its like. */
  #readArray(word: Word): boolean {
    const source = this.#source;
    if (word.isQuoted || !/^[A-Za-z_]\w*\+?=$/.test(word.text)) return false;
    source.at++;
    this.#budget.nest(() => {
      while (!source.eat(")")) {
        this.#nested.lines();
        if (source.peek() === ")") continue;
        const item = this.read();
        if (!item) throw new Unparsed("an array has no end");
        if (expandsAgain(item.text)) this.#nested.unknown();
      }
    });
    return addBare(word, HOLE);
  }

  #readExpansion(word: Word): boolean {
    const source = this.#source;
    if (source.peek(1) === '"') {
      source.at += 2;
      return addQuoted(word, this.readQuoted('"'));
    }
    if (source.peek(1) !== "'") return addBare(word, this.#readDollar(SPLIT));
    source.at += 2;
    const raw = source.take(ANSI_TEXT);
    if (raw === undefined || !source.eat("'")) throw new Unparsed("a quote has no end");
    return addQuoted(word, readEscapes(raw));
  }

  /** What begins with `$`, as a hole; a `$` that begins nothing is itself. */
  #readDollar(hole: string): string {
    const source = this.#source;
    source.at++;
    if (source.eat("((")) {
      this.readArithmetic();
      return hole;
    }
    if (source.eat("(")) {
      this.#nested.commands();
      return hole;
    }
    if (source.eat("{")) return this.#readBraces(hole);
    // A newline that a backslash hides could make an expansion of what follows.
    if (source.peek() === "[" || source.startsWith("\\\n")) throw new Unparsed("a `$` is followed by what is not read");
    const name = source.take(NAME);
    if (name === undefined) return "$";
    return name === "@" ? SPLIT : hole;
  }

  #readBraces(hole: string): string {
    const source = this.#source;
    const start = source.at;
    if (" \t\n|".includes(source.peek())) throw new Unparsed("a `${` is followed by what is not read");
    this.#budget.nest(() => {
      for (;;) {
        source.take(BRACES_RUN);
        if (source.peek() === "}") return;
        // Whether a single quote quotes depends on what surrounds it.
        if (source.peek() === "'" && hole === HOLE) throw new Unparsed("a quote stands in an expansion that is quoted");
        this.#skipInner(source.peek(), hole);
      }
    });
    const inner = source.text.slice(start, source.at++);
    // A prompt runs the commands that a value names.
    if (inner.endsWith("@P")) this.#nested.unknown();
    return inner.includes("@") ? SPLIT : hole;
  }

  /** Reads over what is quoted or expanded inside an expansion. */
  #skipInner(char: string, hole: string): void {
    const source = this.#source;
    if (char === "\\") this.#skipEscape();
    else if (char === '"') {
      source.at++;
      if (expandsAgain(this.readQuoted('"'))) this.#nested.unknown();
    } else if (char === "`") this.#readBackticks(hole);
    else if (char === "$") this.#skipDollar(hole);
    else if (char === "'" && hole === SPLIT) this.#skipSingle();
    else if ((char === "<" || char === ">") && hole === SPLIT) this.#skipAngle();
    else throw new Unparsed("an expansion has no end");
  }

  #skipEscape(): void {
    // Arithmetic and subscripts are expanded again.
    if (/[$`]/.test(this.#source.peek(1))) this.#nested.unknown();
    this.#source.at += 2;
  }

  #skipSingle(): void {
    if (expandsAgain(this.#readSingle())) this.#nested.unknown();
  }

  #skipDollar(hole: string): void {
    if (hole === SPLIT) this.#readExpansion({ text: "", bare: 0, isQuoted: false });
    else this.#readDollar(hole);
  }

  #skipAngle(): void {
    if (!this.#readProcess({ text: "", bare: 0, isQuoted: false })) this.#source.at++;
  }

  #readBackticks(hole: string): string {
    const source = this.#source;
    source.at++;
    const raw = source.take(BACKTICK_TEXT) ?? "";
    if (!source.eat("`")) throw new Unparsed("a backtick has no end");
    this.#nested.code(raw.replace(hole === HOLE ? /\\([$`\\"])/g : /\\([$`\\])/g, "$1"));
    return hole;
  }
}

/** Whether an unquoted `~` here is a folder: at the beginning, and in the value of an assignment. */
function isTildePlace({ text, isQuoted }: Word): boolean {
  return (text === "" && !isQuoted) || /^[A-Za-z_]\w*\+?=(?:[\s\S]*:)?$/.test(text);
}

const RUN = /[^ \t\n\\'"$`*?[{;&|()<>~]+/y;
const QUOTED_RUN = /[^"\\$`]+/y;
const BODY_RUN = /[^\\$`]+/y;
const ARITHMETIC_RUN = /[^\\'"$`()]+/y;
const BRACES_RUN = /[^\\'"$`<>}]+/y;
const BACKTICK_TEXT = /(?:[^\\`]|\\[\s\S])*/y;
const ANSI_TEXT = /(?:[^\\']|\\[\s\S])*/y;
const NAME = /[A-Za-z_]\w*|[\d@*#?$!-]/y;
