import { LIST_END, type Parts, RESERVED, RESERVED_WORD, readCompound, requireWord, unexpected } from "./compounds.ts";
import { type Heredoc, Heredocs } from "./heredoc.ts";
import { assignsCode } from "./hidden-code.ts";
import { SPLIT } from "./shell-line.ts";
import { type Budget, Source, Unparsed } from "./source.ts";
import type { Word } from "./word.ts";
import { Words } from "./words.ts";

/** A simple command as it stands in a text, assignments and redirections left out. */
export type Found = {
  words: string[];
  /** The texts it may read as its input, as far as they stand here. */
  input: string[];
};

export type GrammarOptions = {
  budget: Budget;
  /** Takes every simple command, in the order they are met. */
  found: Found[];
};

/** Reads a text as bash does, for the simple commands in it. @throws Unparsed where it is not certain to do so. */
export class Grammar {
  /** There is more than one simple command made of words. */
  isCompound = false;
  readonly #source: Source;
  readonly #options: GrammarOptions;
  readonly #words: Words;
  readonly #parts: Parts;
  readonly #heredocs = new Heredocs<Heredoc & { reader: Found | undefined }>();

  constructor(text: string, options: GrammarOptions) {
    options.budget.read(text);
    this.#source = new Source(text);
    this.#options = options;
    this.#words = new Words(this.#source, options.budget, {
      commands: () => this.#readSubstitution(),
      lines: () => this.#heredocs.hold(() => this.#skipLines()),
      code: (code) => this.#nested(code, (inner) => inner.readAll()),
      unknown: () => this.#addUnknown(),
    });
    this.#parts = {
      source: this.#source,
      words: this.#words,
      list: (...ends) => this.#readList(ends),
      lines: () => this.#skipLines(),
      innerLines: () => this.#heredocs.hold(() => this.#skipLines()),
      unknown: () => this.#addUnknown(),
    };
  }

  readAll(): void {
    this.#readList([""]);
  }

  /** Reads the text of a here-document that is expanded; expansions are holes. */
  readBody(): string {
    return this.#words.readQuoted("");
  }

  /** Reads commands up to and with one of `ends`: `""` is the end of the text, the others are words and operators. */
  #readList(ends: readonly string[]): string {
    return this.#options.budget.nest(() => {
      for (;;) {
        this.#skipLines();
        const end = this.#eatEnd(ends);
        if (end !== undefined) return end;
        this.#readAndOr();
      }
    });
  }

  #eatEnd(ends: readonly string[]): string | undefined {
    const source = this.#source;
    const here = source.isAtEnd ? "" : (source.match(LIST_END) ?? this.#reserved());
    if (here === undefined) return undefined;
    const end = here.startsWith(";") ? ";;" : here;
    if (ends.includes(end)) source.at += here.length;
    else if (end === "" || end === ")" || end === ";;") throw new Unparsed("a command has no end");
    else return undefined;
    return end;
  }

  #readAndOr(): void {
    const source = this.#source;
    for (;;) {
      const isClosed = this.#readPipeline();
      source.skipBlanks();
      if (source.eat("&&") || source.eat("||")) {
        this.isCompound = true;
        this.#skipLines();
      } else {
        if (!source.match(LIST_END) && (source.eat(";") || source.eat("&"))) this.isCompound = true;
        else if (!isClosed && !source.isAtEnd && !source.match(AFTER_COMMAND)) throw this.#unexpected();
        return;
      }
    }
  }

  /** Whether it ended with a compound command, behind which a reserved word needs no separator. */
  #readPipeline(): boolean {
    for (;;) {
      this.#readPrefixes();
      const isClosed = this.#readCommand();
      this.#source.skipBlanks();
      if (this.#source.startsWith("||") || !(this.#source.eat("|&") || this.#source.eat("|"))) return isClosed;
      this.isCompound = true;
      this.#skipLines();
    }
  }

  #readPrefixes(): void {
    const source = this.#source;
    for (let word = this.#reserved(); word === "!" || word === "time" || word === "coproc"; word = this.#reserved()) {
      this.isCompound = true;
      source.at += word.length;
      // With extended patterns on, this is a name and not a subshell.
      if (source.peek() === "(") throw this.#unexpected();
      source.skipBlanks();
      if (word === "time") source.take(TIME_OPTIONS);
    }
  }

  #readCommand(): boolean {
    const source = this.#source;
    if (source.peek() === "(") {
      this.#readParentheses();
    } else {
      const word = this.#reserved();
      if (word === undefined) return this.#readSimple();
      source.at += word.length;
      if (word === "function") this.#readFunction();
      else readCompound(word, this.#parts);
    }
    this.isCompound = true;
    for (source.skipBlanks(); this.#readRedirection(undefined); source.skipBlanks());
    return true;
  }

  #readParentheses(): void {
    if (this.#source.eat("((")) return this.#words.readArithmetic();
    this.#source.at++;
    this.#readList([")"]);
  }

  #readFunction(): void {
    const source = this.#source;
    source.skipBlanks();
    this.#requireWord();
    source.take(EMPTY_PARENTHESES);
    this.#skipLines();
    this.#options.budget.nest(() => this.#readCommand());
  }

  #readSimple(): boolean {
    const source = this.#source;
    const found: Found = { words: [], input: [] };
    let isBegun = false;
    for (;;) {
      source.skipBlanks();
      if (source.peek() === "#") source.take(LINE_REST);
      if (!this.#readRedirection(found)) {
        const word = this.#words.read();
        if (!word) break;
        if (!isBegun && this.#readDefinition(word)) return true;
        this.#addWord(found, word);
      }
      isBegun = true;
    }
    if (!isBegun) throw this.#unexpected();
    if (found.words.length > 0) this.#add(found);
    return false;
  }

  /** `name() …`. */
  #readDefinition({ text, bare }: Word): boolean {
    // A newline that a backslash hides makes a reserved word that was not seen as one.
    if (bare === text.length && RESERVED_WORD.test(text)) throw this.#unexpected();
    if (this.#source.take(EMPTY_PARENTHESES) === undefined) return false;
    this.isCompound = true;
    this.#skipLines();
    this.#options.budget.nest(() => this.#readCommand());
    return true;
  }

  #addWord(found: Found, { text, bare }: Word): void {
    const name = found.words.length === 0 ? ASSIGNMENT.exec(text)?.[0] : undefined;
    if (name === undefined || name.length > bare) found.words.push(text);
    else {
      this.isCompound = true;
      if (assignsCode(text)) this.#addUnknown();
    }
  }

  #addUnknown(): void {
    this.#add({ words: [SPLIT], input: [] });
  }

  #add(found: Found): void {
    this.#options.budget.count();
    this.#options.found.push(found);
  }

  #readRedirection(found: Found | undefined): boolean {
    const source = this.#source;
    const operator = source.take(REDIRECTION)?.replace(/^[^<>&]*/, "");
    if (operator === undefined) return false;
    this.isCompound = true;
    source.skipBlanks();
    const start = source.at;
    const { text, isQuoted } = this.#requireWord();
    if (operator === "<<" || operator === "<<-") {
      // Bash expands nothing here, so what looks like an expansion is the delimiter itself.
      if (!PLAIN_DELIMITER.test(source.text.slice(start, source.at))) throw this.#unexpected();
      this.#heredocs.add({ delimiter: text, isLiteral: isQuoted, dropsTabs: operator === "<<-", reader: found });
    } else if (operator.startsWith("<")) found?.input.push(operator === "<<<" ? text : SPLIT);
    return true;
  }

  #readSubstitution(): void {
    this.isCompound = true;
    this.#heredocs.nest(() => this.#readList([")"]));
  }

  #nested<T>(text: string, read: (inner: Grammar) => T): T {
    this.isCompound = true;
    return this.#options.budget.nest(() => read(new Grammar(text, this.#options)));
  }

  /** Skips blanks, comments and newlines, and takes the here-documents that begin after the first of these. */
  #skipLines(): void {
    const source = this.#source;
    for (;;) {
      source.skipBlanks();
      if (source.peek() === "#") source.take(LINE_REST);
      if (!source.eat("\n")) return;
      for (const { heredoc, text } of this.#heredocs.read(source)) {
        const input = heredoc.isLiteral ? text : this.#nested(text, (inner) => inner.readBody());
        heredoc.reader?.input.push(input);
      }
    }
  }

  #requireWord(): Word {
    return requireWord(this.#parts);
  }

  #reserved(): string | undefined {
    return this.#source.match(RESERVED);
  }

  #unexpected(): Unparsed {
    return unexpected(this.#source);
  }
}

const AFTER_COMMAND = /[\n;)]/y;
const REDIRECTION = /&>>?|(?:\d+|\{[A-Za-z_]\w*\})?(?:<<<|<<-?|<>|<&|>>|>&|>\||[<>](?!\())/y;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
const PLAIN_DELIMITER = /^(?:\\?[\w.-]|'[\w.-]*'|"[\w.-]*")+$/;
const EMPTY_PARENTHESES = /[ \t]*\([ \t]*\)/y;
const TIME_OPTIONS = /(?:(?:-p|--)(?=[ \t\n])[ \t]*)+/y;
const LINE_REST = /[^\n]*/y;
