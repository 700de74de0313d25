import { type Source, Unparsed } from "./source.ts";

/** Where a here-document ends and what happens to its text. */
export type Heredoc = {
  delimiter: string;
  /** Nothing in the text is expanded. */
  isLiteral: boolean;
  /** Written `<<-`: tabs at the beginning of lines are dropped. */
  dropsTabs: boolean;
};

/** Reads the lines up to and with the delimiter; the end of the text stands for a missing one. */
export function readHeredoc(source: Source, heredoc: Heredoc, isInSubstitution: boolean): string {
  const { delimiter } = heredoc;
  const lines: string[] = [];
  while (!source.isAtEnd) {
    const line = readLine(source, heredoc);
    if (line === delimiter) break;
    // Inside a substitution bash also takes `EOF)` for the end, some versions do and some do not.
    if (isInSubstitution && line.startsWith(delimiter) && line.includes(")", delimiter.length)) {
      throw new Unparsed("a here-document ends together with its substitution");
    }
    lines.push(`${line}\n`);
  }
  return lines.join("");
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
