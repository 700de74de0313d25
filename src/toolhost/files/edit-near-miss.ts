import { clip, clipAround, countLines, headChars, splitLines } from "../../core/truncate.ts";
import { visibleLine } from "../../core/visible.ts";
import { longestPrefix } from "./find-text.ts";
import { shownName } from "./names.ts";

const SHOWN_LINES = 5;
const SHOWN_CHARS = 200;
/** Lines of the old text that vote for a place, and places each may vote for: enough to find it, bounded to search. */
const MAX_VOTERS = 100;
const MAX_VOTES_EACH = 20;
/** Shorter lines (`}`, `end`) are everywhere and say nothing. */
const MIN_TELLING = 4;

/** A longer file is searched for the beginning of the old text only, and looked at around that. */
const MAX_SEARCHED_CHARS = 1024 * 1024;
const WINDOW_CHARS = 64 * 1024;

/** U+FFFD as UTF-8, read as latin1. */
const NOT_ASCII = /[^\0-\x7f]/;
const REPLACEMENT_BYTES = "\xef\xbf\xbd";

/**
 * Words for a text that is not in the file: the lines most like it, and the first character that differs. `isText`: false
 * where both are bytes read as latin1.
 */
export function nearMiss(text: string, oldText: string, isText: boolean): string {
  if (text === "") return "The file is empty; use write to give it content";
  const words = resemblance(text, oldText, isText);
  if (isText || !NOT_ASCII.test(oldText)) return words;
  if (!oldText.includes(REPLACEMENT_BYTES))
    return `${words}\nThe file is not valid UTF-8, so letters outside ASCII are other bytes in it than in oldText; choose text without them`;
  return `${words}\nThe file is not valid UTF-8: read shows its other bytes as U+FFFD, which stands for none of them; choose text without it`;
}

function resemblance(text: string, oldText: string, isText: boolean): string {
  const { lines: fileLines, first } = linesToSearch(text, oldText);
  const oldLines = splitLines(headChars(oldText, MAX_SEARCHED_CHARS));
  const line =
    votedLine(fileLines, oldLines, MIN_TELLING) ??
    prefixLine(fileLines.join(""), oldText) ??
    votedLine(fileLines, oldLines, 1);
  if (line === undefined) return "No line resembles it; read the file again and copy the text from there";
  const place: Place = { fileLines, oldLines, from: line, first, isText };
  const difference = firstDifference(place);
  return `${difference.words} Nearest lines:\n${shownLines(place, difference)}`;
}

/** `first` is how many lines of the file stand before `fileLines`. */
type Place = {
  fileLines: readonly string[];
  oldLines: readonly string[];
  from: number;
  first: number;
  isText: boolean;
};

function linesToSearch(text: string, oldText: string): { lines: string[]; first: number } {
  if (text.length <= MAX_SEARCHED_CHARS) return { lines: splitLines(text), first: 0 };
  const { end } = longestPrefix(text, oldText.trimStart() || oldText);
  const start = text.lastIndexOf("\n", Math.max(0, end - WINDOW_CHARS)) + 1;
  return {
    lines: splitLines(text.slice(start, text.indexOf("\n", end + WINDOW_CHARS) + 1 || text.length)),
    first: countLines(text.slice(0, start)),
  };
}

/** The line most lines of the old text agree it begins at, blanks at their ends aside. */
function votedLine(fileLines: readonly string[], oldLines: readonly string[], minLength: number): number | undefined {
  const voters = new Map<string, number[]>();
  for (const [index, line] of oldLines.slice(0, MAX_VOTERS).entries()) {
    const key = line.trim();
    if (key.length >= minLength) voters.set(key, [...(voters.get(key) ?? []), index].slice(0, MAX_VOTES_EACH));
  }
  const votes = new Map<number, number>();
  for (const [at, line] of fileLines.entries()) {
    for (const index of voters.get(line.trim()) ?? []) votes.set(at - index, (votes.get(at - index) ?? 0) + 1);
  }
  let best: number | undefined;
  for (const [line, count] of votes)
    if (line >= 0 && count > (best === undefined ? 0 : (votes.get(best) ?? 0))) best = line;
  return best;
}

/** The line where the longest beginning of the old text stands. */
function prefixLine(text: string, oldText: string): number | undefined {
  const start = oldText.trimStart();
  if (start === "") return undefined;
  const { length, end } = longestPrefix(text, start);
  if (length < Math.min(MIN_TELLING, Math.ceil(start.length / 2))) return undefined;
  return splitLines(text.slice(0, end - length + 1)).length - 1;
}

/** `line` of those shown and `at` in it, where there is such a place. */
type Difference = { words: string; line?: number; at?: number };

function firstDifference({ fileLines, oldLines, from, first, isText }: Place): Difference {
  for (const [index, oldLine] of oldLines.entries()) {
    const fileLine = fileLines[from + index];
    if (fileLine === undefined) return { words: `The file ends at line ${first + fileLines.length}, oldText goes on.` };
    const last = index === oldLines.length - 1;
    const at = differenceIn(fileLine, oldLine, index === 0, last);
    if (at === undefined) continue;
    const ours = `oldText has ${shownCharacter(oldLine, at.old, isText)}`;
    const theirs =
      at.file === fileLine.length
        ? "the file ends here, without a newline"
        : `the file has ${shownCharacter(fileLine, at.file, isText)}`;
    const place = `line ${first + from + index + 1}, column ${columnIn(fileLine.slice(0, at.file))}`;
    return { words: `First difference at ${place}: ${theirs}, ${ours}.`, line: index, at: at.file };
  }
  return { words: "It differs only at its ends." };
}

/** The column, in characters from 1, behind this beginning of a line. */
export function columnIn(before: string): number {
  return before.replace(/[\u{10000}-\u{10ffff}]/gu, "_").length + 1;
}

/** Where two lines part; the first line of the old text may begin, and the last one end, in the middle of a line. */
function differenceIn(
  fileLine: string,
  oldLine: string,
  first: boolean,
  last: boolean,
): { file: number; old: number } | undefined {
  const begin = first ? beginIn(fileLine, oldLine) : 0;
  let at = 0;
  while (at < oldLine.length && fileLine[begin + at] === oldLine[at]) at++;
  if (at === oldLine.length && (last || begin + at === fileLine.length)) return undefined;
  return { file: begin + at, old: at };
}

function beginIn(fileLine: string, oldLine: string): number {
  if (fileLine.startsWith(oldLine)) return 0;
  const { length, end } = longestPrefix(fileLine, oldLine);
  // A common first character or two is chance; then the lines are laid side by side.
  return length >= Math.min(MIN_TELLING, oldLine.length) ? end - length : 0;
}

function shownCharacter(line: string, at: number, isText: boolean): string {
  const code = line.codePointAt(at);
  if (code === undefined) return "the end of the line";
  if (!isText && code > 0x7f) return `the byte 0x${code.toString(16).toUpperCase()}`;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return code === 10 ? `the line's end (${name})` : `\`${visibleLine(String.fromCodePoint(code))}\` (${name})`;
}

function shownLines({ fileLines, oldLines, from, first, isText }: Place, { line, at = 0 }: Difference): string {
  const show = (index: number): string => {
    const whole = (fileLines[from + index] ?? "").replace(/\r?\n$/, "");
    const cut = index === line ? clipAround(whole, at, at + 1, SHOWN_CHARS) : clip(whole, SHOWN_CHARS);
    return `${first + from + index + 1}: ${isText ? visibleLine(cut) : shownName(Buffer.from(cut, "latin1"))}`;
  };
  const count = Math.min(oldLines.length, SHOWN_LINES, fileLines.length - from);
  return Array.from({ length: count }, (_, index) => show(index)).join("\n");
}
