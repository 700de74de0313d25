/** What two texts may differ in and still count as the same. */
export type Looseness = "endings" | "forms";

/** A place where the normalised text is not the source text: `[outFrom, outTo)` stands for `[srcFrom, srcTo)`. */
type Piece = { outFrom: number; outTo: number; srcFrom: number; srcTo: number };

/** A text in normal form that knows where each part of it came from. */
export type Normalised = { text: string; pieces: Piece[] };

/** Places that differ beyond which a file is matched exactly or not at all: they cost 60 bytes of memory each. */
const MAX_PIECES = 1_000_000;

// 30: as many as the stream-safe format allows (UAX #15); of a longer run the regular expression's stack would overflow.
// A blank run, a CRLF, or a character outside ASCII (or any before a combining one) with all that composes with it.
const IRREGULAR =
  /\r\n|[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+|[^\s][\p{M}\u1160-\u11ff\uff9e\uff9f]{1,30}|[\u0080-\u{10ffff}]/gu;
const BLANKS = /^[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/;

const NOT_ASCII = /[^\0-\x7f]/g;

/**
 * `endings`: CRLF is LF. `forms`: also no blanks at line ends, NFKC, plain quotes, dashes and blanks. Composed character
 * by character, so that a match can be told in the source's own offsets. Undefined where that would take too much memory.
 */
export function normalise(source: string, looseness: Looseness): Normalised | undefined {
  const pieces: Piece[] = [];
  const out: string[] = [];
  let length = 0;
  let copied = 0;
  const replace = (srcFrom: number, srcTo: number, text: string) => {
    if (pieces.length > MAX_PIECES || source.slice(srcFrom, srcTo) === text) return;
    out.push(source.slice(copied, srcFrom), text);
    length += srcFrom - copied;
    pieces.push({ outFrom: length, outTo: length + text.length, srcFrom, srcTo });
    length += text.length;
    copied = srcTo;
  };
  if (looseness === "endings") replaceEndings(source, replace);
  else replaceForms(source, replace);
  if (pieces.length > MAX_PIECES) return undefined;
  out.push(source.slice(copied));
  return { text: out.join(""), pieces };
}

function replaceEndings(source: string, replace: Replace): void {
  for (let at = source.indexOf("\r\n"); at !== -1; at = source.indexOf("\r\n", at + 2)) replace(at, at + 2, "\n");
}

/** Line by line: the expression is slow, and most lines of most files are ASCII, where only the end can be irregular. */
function replaceForms(source: string, replace: Replace): void {
  let foreign = nextForeign(source, 0);
  for (let from = 0; from < source.length; ) {
    const to = source.indexOf("\n", from) + 1 || source.length;
    if (foreign >= to) replaceLineEnd(source, from, to, replace);
    else {
      for (const { 0: found, index } of source.slice(from, to).matchAll(IRREGULAR))
        replaceOne(source, found, from + index, replace);
      foreign = nextForeign(source, to);
    }
    from = to;
  }
}

function nextForeign(source: string, from: number): number {
  NOT_ASCII.lastIndex = from;
  return NOT_ASCII.exec(source)?.index ?? Number.POSITIVE_INFINITY;
}

/** Of a line of ASCII, `to` behind its newline. */
function replaceLineEnd(source: string, from: number, to: number, replace: Replace): void {
  const newline = source[to - 1] === "\n" ? to - 1 : to;
  const end = newline < to && newline > from && source[newline - 1] === "\r" ? newline - 1 : newline;
  let blanks = end;
  while (blanks > from && (source[blanks - 1] === " " || source[blanks - 1] === "\t")) blanks--;
  if (blanks < end) replace(blanks, end, "");
  if (end < newline) replace(end, to, "\n");
}

type Replace = (srcFrom: number, srcTo: number, text: string) => void;

function replaceOne(source: string, found: string, at: number, replace: Replace): void {
  const end = at + found.length;
  if (found === "\r\n") replace(at, end, "\n");
  else if (!BLANKS.test(found)) replace(at, end, plainForm(found));
  else if (endsLine(source, end)) replace(at, end, "");
  else for (let index = at; index < end; index++) replace(index, index + 1, source[index] === "\t" ? "\t" : " ");
}

function endsLine(source: string, at: number): boolean {
  return at === source.length || source[at] === "\n" || (source[at] === "\r" && source[at + 1] === "\n");
}

function plainForm(character: string): string {
  return character
    .normalize("NFKC")
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-");
}

/** Where in the source a match that begins at `offset` begins; undefined inside a character that became several. */
export function sourceStart({ pieces }: Normalised, offset: number): number | undefined {
  const piece = lastPiece(pieces, (candidate) => candidate.outFrom <= offset);
  if (piece === undefined) return offset;
  if (offset === piece.outFrom && piece.outTo > offset) return piece.srcFrom;
  return offset < piece.outTo ? undefined : piece.srcTo + offset - piece.outTo;
}

/** Where in the source a match that ends before `offset` ends; blanks dropped right there are not part of it. */
export function sourceEnd({ pieces }: Normalised, offset: number): number | undefined {
  const piece = lastPiece(pieces, (candidate) => candidate.outFrom < offset);
  if (piece === undefined) return offset;
  return offset < piece.outTo ? undefined : piece.srcTo + offset - piece.outTo;
}

/** The end of the blanks that were dropped at `offset`, or undefined where none were. */
export function droppedEnd({ pieces }: Normalised, offset: number): number | undefined {
  const piece = lastPiece(pieces, (candidate) => candidate.outFrom <= offset && candidate.outTo <= offset);
  return piece && piece.outFrom === offset && piece.outTo === offset ? piece.srcTo : undefined;
}

/** The last piece of which `holds` is true; it is true of a beginning of the list. */
function lastPiece(pieces: readonly Piece[], holds: (piece: Piece) => boolean): Piece | undefined {
  let low = 0;
  let high = pieces.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const piece = pieces[middle];
    if (piece !== undefined && holds(piece)) low = middle + 1;
    else high = middle;
  }
  return pieces[low - 1];
}
