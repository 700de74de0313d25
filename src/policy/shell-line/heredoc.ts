import { type Source, Unparsed } from "./source.ts";

/** Where a here-document ends and what happens to its text. */
export type Heredoc = {
  delimiter: string;
  /** Nothing in the text is expanded. */
  isLiteral: boolean;
  /** Written `<<-`: tabs at the beginning of lines are dropped. */
  dropsTabs: boolean;
};

/** The here-documents that have begun and whose lines have not come yet. */
export class Heredocs<Item extends Heredoc> {
  #waiting: Item[] = [];
  #isHeld = false;
  #depth = 0;

  add(heredoc: Item): void {
    this.#waiting.push(heredoc);
  }

  /** At the beginning of a line: each one that waits, with its text. */
  read(source: Source): { heredoc: Item; text: string }[] {
    if (this.#isHeld) throw new Unparsed("a here-document begins before lines that are not its own");
    return this.#waiting.splice(0).map((heredoc) => ({ heredoc, text: readText(source, heredoc, this.#depth > 0) }));
  }

  /** Reads what must not have a new line while a here-document waits: bash does not always take it there. */
  hold(work: () => void): void {
    const isHeld = this.#isHeld;
    this.#isHeld ||= this.#waiting.length > 0;
    work();
    this.#isHeld = isHeld;
  }

  /** Reads a substitution, whose here-documents are its own. */
  nest(work: () => void): void {
    this.hold(() => {
      const outer = this.#waiting;
      this.#waiting = [];
      this.#depth++;
      work();
      if (this.#waiting.length > 0) throw new Unparsed("a here-document has no text");
      this.#depth--;
      this.#waiting = outer;
    });
  }
}

/** Reads the lines up to and with the delimiter. */
function readText(source: Source, heredoc: Heredoc, isInSubstitution: boolean): string {
  const { delimiter } = heredoc;
  const lines: string[] = [];
  while (!source.isAtEnd) {
    const line = readLine(source, heredoc);
    if (line === delimiter) return lines.join("");
    // Inside a substitution bash also takes `EOF)` for the end, some versions do and some do not.
    if (isInSubstitution && line.startsWith(delimiter) && line.includes(")", delimiter.length)) {
      throw new Unparsed("a here-document ends together with its substitution");
    }
    lines.push(`${line}\n`);
  }
  throw new Unparsed("a here-document has no end");
}

function readLine(source: Source, { isLiteral, dropsTabs }: Heredoc): string {
  const raw = source.take(isLiteral ? LITERAL_LINE : LINE) ?? "";
  source.eat("\n");
  const line = isLiteral ? raw : raw.replace(/\\([\s\S])/g, (pair, char) => (char === "\n" ? "" : pair));
  return dropsTabs ? line.replace(/^\t+/, "") : line;
}

const LITERAL_LINE = /[^\n]*/y;
/** A newline behind a backslash joins two lines, before they are compared with the delimiter. */
const LINE = /(?:[^\n\\]|\\[\s\S])*\\?/y;
