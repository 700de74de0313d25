import { plural } from "../notices.ts";
import { ToolFailure } from "../outcomes.ts";
import { columnIn, nearMiss } from "./edit-near-miss.ts";
import { findText, MAX_KEPT } from "./find-text.ts";
import { takeEndings } from "./line-endings.ts";
import { droppedEnd, type Looseness, type Normalised, normalise, sourceEnd, sourceStart } from "./normalise.ts";

export type Edit = { oldText: string; newText: string };
/** How closely the text was found: as written, but for line endings, or but for blanks and forms of characters. */
export type Closeness = "exact" | Looseness;
export type Span = { start: number; end: number; replacement: string; closeness: Closeness };
type Place = { start: number; end: number };

const MAX_LINES_NAMED = 20;

/** The text edits match against; its normal forms are made once, and only when an edit needs them. */
export class Original {
  readonly text: string;
  /** False for bytes that are not UTF-8, of which characters and their forms mean nothing. */
  readonly isText: boolean;
  readonly #normal = new Map<Looseness, Normalised | undefined>();

  constructor(text: string, isText: boolean) {
    this.text = text;
    this.isText = isText;
  }

  get closenesses(): Closeness[] {
    return this.isText ? ["exact", "endings", "forms"] : ["exact", "endings"];
  }

  normal(looseness: Looseness): Normalised | undefined {
    if (!this.#normal.has(looseness)) this.#normal.set(looseness, normalise(this.text, looseness));
    return this.#normal.get(looseness);
  }

  /** In characters, from 1. */
  columnAt(offset: number): number {
    const start = offset === 0 ? 0 : this.text.lastIndexOf("\n", offset - 1) + 1;
    return columnIn(this.text.slice(start, offset));
  }

  lineAt(offset: number): number {
    let line = 1;
    for (let at = this.text.indexOf("\n"); at !== -1 && at < offset; at = this.text.indexOf("\n", at + 1)) line++;
    return line;
  }
}

/** The one place of an edit. `label` names it in the words of the ToolFailure thrown where there is none or several. */
export function locate(original: Original, edit: Edit, label: string): Span {
  for (const closeness of original.closenesses) {
    const { count, places } = occurrences(original, edit.oldText, closeness);
    const [place] = places;
    if (place === undefined) continue;
    if (count > 1) throw ambiguous(original, { count, places, closeness }, label);
    refuseHalfBreak(original, edit.oldText, place, label);
    return spanAt(original.text, edit, place, closeness);
  }
  throw new ToolFailure(
    `${label}oldText is not in the file; nothing was changed. ${nearMiss(original.text, edit.oldText, original.isText)}`,
  );
}

/** The CR alone replaced would leave an LF without it; what the text was meant to end with cannot be told. */
function refuseHalfBreak(original: Original, oldText: string, { end }: Place, label: string): void {
  if (!oldText.endsWith("\r") || original.text[end - 1] !== "\r" || original.text[end] !== "\n") return;
  throw new ToolFailure(
    `${label}oldText ends between the CR and the LF of the line ending of line ${original.lineAt(end)}; nothing was changed. End it before the CR, or with the whole line ending`,
  );
}

function spanAt(text: string, edit: Edit, { start, end }: Place, closeness: Closeness): Span {
  // Half of a CRLF left behind would be a lone CR: the line break is one thing, and is replaced as one.
  const splitsCrlf = text[start] === "\n" && text[start - 1] === "\r" && edit.oldText.startsWith("\n");
  const from = splitsCrlf ? start - 1 : start;
  const replacement = takeEndings(edit.newText, edit.oldText, text, from, end);
  return { start: from, end, replacement, closeness: splitsCrlf && closeness === "exact" ? "endings" : closeness };
}

type Found = { count: number; places: Place[] };

function occurrences(original: Original, oldText: string, closeness: Closeness): Found {
  if (closeness !== "exact") return looseOccurrences(original.normal(closeness), oldText, closeness);
  const { count, offsets } = findText(original.text, oldText);
  return { count, places: offsets.map((start) => ({ start, end: start + oldText.length })) };
}

function looseOccurrences(normal: Normalised | undefined, oldText: string, looseness: Looseness): Found {
  const pattern = normalise(oldText, looseness)?.text ?? "";
  const trimmed = looseness === "forms" ? /[^\S\n]+$/.exec(oldText)?.[0] : undefined;
  // In another form blanks alone would be found between any two words.
  const isNothing = looseness === "forms" ? pattern.trim() === "" : pattern === "";
  if (normal === undefined || isNothing) return { count: 0, places: [] };
  if (trimmed === undefined) return aligned(normal, pattern, false);
  // Blanks at its end stand in the middle of a line, or at the end of one whose own blanks are others.
  const inLine = aligned(normal, pattern + " ".repeat(trimmed.length), false);
  return inLine.count > 0 ? inLine : aligned(normal, pattern, true);
}

/** Occurrences that begin and end with whole characters of the source, with `atLineEnd` only those that end a line. */
function aligned(normal: Normalised, pattern: string, atLineEnd: boolean): Found {
  const { count, offsets } = findText(normal.text, pattern);
  const places: Place[] = [];
  for (const offset of offsets) {
    const after = offset + pattern.length;
    if (atLineEnd && after < normal.text.length && normal.text[after] !== "\n") continue;
    const start = sourceStart(normal, offset);
    const end = (atLineEnd ? droppedEnd(normal, after) : undefined) ?? sourceEnd(normal, after);
    if (start !== undefined && end !== undefined) places.push({ start, end });
  }
  return { count: count > MAX_KEPT ? count : places.length, places };
}

function ambiguous(original: Original, found: Found & { closeness: Closeness }, label: string): ToolFailure {
  const named = found.places.slice(0, MAX_LINES_NAMED);
  const more = found.count > named.length ? ` and ${found.count - named.length} more` : "";
  const loosely =
    found.closeness === "exact" ? "" : " (not exactly, but for line endings, blanks or forms of characters)";
  return new ToolFailure(
    `${label}oldText occurs ${plural(found.count, "time")}${loosely}, at ${whereabouts(original, named, more)} to make it unique`,
  );
}

/** Where they are, and what would tell them apart: lines around do not, of places on one line. */
function whereabouts(original: Original, places: readonly Place[], more: string): string {
  const lines = new Set(places.map(({ start }) => original.lineAt(start)));
  if (lines.size === places.length)
    return `lines ${[...lines].join(", ")}${more}; nothing was changed. Add surrounding lines`;
  const [line] = lines;
  const where =
    lines.size === 1
      ? `line ${line}, columns ${places.map(({ start }) => original.columnAt(start)).join(", ")}`
      : `lines ${[...lines].join(", ")}, some of them several times`;
  return `${where}${more}; nothing was changed. Add surrounding text`;
}
