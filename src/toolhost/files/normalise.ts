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

/**
 * `endings`: CRLF is LF. `forms`: also no blanks at line ends, NFKC, plain quotes, dashes and blanks. Composed character
 * by character, so that a match can be told in the source's own offsets. Undefined where that would take too much memory.
 */
export function normalise(source: string, looseness: Looseness): Normalised | undefined {
  const result: Normalised = { text: "", pieces: [] };
  const out: string[] = [];
  let length = 0;
  let copied = 0;
  const replace = (srcFrom: number, srcTo: number, text: string) => {
    if (result.pieces.length > MAX_PIECES || source.slice(srcFrom, srcTo) === text) return;
    out.push(source.slice(copied, srcFrom), text);
    length += srcFrom - copied;
    result.pieces.push({ outFrom: length, outTo: length + text.length, srcFrom, srcTo });
    length += text.length;
    copied = srcTo;
  };
  for (const match of source.matchAll(looseness === "endings" ? /\r\n/g : IRREGULAR)) {
    replaceOne(source, match[0], match.index, replace);
    if (result.pieces.length > MAX_PIECES) return undefined;
  }
  out.push(source.slice(copied));
  result.text = out.join("");
  return result;
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
