/** The only place that shortens text: cuts at code points, in bytes of UTF-8, and tells what is missing. */

/** `text` without lone surrogates, so that it is valid JSON and UTF-8 everywhere. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** The longest prefix of at most `maxBytes` bytes of UTF-8 that ends at a code point; says nothing of what it left out. */
export function headBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  let end = 0;
  let room = maxBytes;
  while (end < text.length) {
    const size = sizeOf(text.codePointAt(end) ?? 0);
    if (size > room) break;
    room -= size;
    end += size === 4 ? 2 : 1;
  }
  return text.slice(0, end);
}

/** The longest suffix of at most `maxBytes` bytes of UTF-8 that begins at a code point. */
export function tailBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  let start = text.length;
  let room = maxBytes;
  while (start > 0) {
    const at = startsInsidePair(text, start - 1) ? start - 2 : start - 1;
    const size = sizeOf(text.codePointAt(at) ?? 0);
    if (size > room) break;
    room -= size;
    start = at;
  }
  return text.slice(start);
}

/** The longest prefix of at most `maxChars` UTF-16 units that ends at a code point; says nothing of what it left out. */
export function headChars(text: string, maxChars: number): string {
  const end = Math.max(0, maxChars);
  return text.slice(0, startsInsidePair(text, end) ? end - 1 : end);
}

/** The longest suffix of at most `maxChars` UTF-16 units that begins at a code point. */
export function tailChars(text: string, maxChars: number): string {
  const start = Math.max(0, text.length - Math.max(0, maxChars));
  return text.slice(startsInsidePair(text, start) ? start + 1 : start);
}

/** Bytes of a code point in UTF-8; a lone surrogate is sent as U+FFFD, which has three. */
function sizeOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

/** The largest end of at most `end` that does not cut a character of these bytes. */
export function boundaryBefore(bytes: Uint8Array, end: number): number {
  if (end >= bytes.length) return bytes.length;
  let boundary = end;
  // A character has at most three continuation bytes; a longer run is not UTF-8 and may be cut anywhere.
  while (boundary > 0 && end - boundary < 4 && isContinuation(bytes[boundary])) boundary--;
  return isContinuation(bytes[boundary]) ? end : boundary;
}

/** The part of these bytes that begins and ends with whole characters; what is no UTF-8 is left as it is. */
export function wholeCharacters(bytes: Uint8Array): { start: number; end: number } {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  let lead = bytes.length - 1;
  while (lead > start && bytes.length - lead < 4 && isContinuation(bytes[lead])) lead--;
  const isCut = lead >= start && lead + lengthOf(bytes[lead] ?? 0) > bytes.length;
  return { start, end: isCut ? lead : bytes.length };
}

/** Bytes of the character that begins so. */
function lengthOf(lead: number): number {
  if (lead < 0xc0) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/** At most `maxChars` UTF-16 units of `text`, then `…` and how many characters were left out. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = headChars(text, maxChars);
  return `${kept}… (${text.length - kept.length} more characters)`;
}

/**
 * At most `maxChars` UTF-16 units of one line with the part from `start` to `end` inside, and how many characters were
 * left out on each side. Of a part that is itself too long the beginning is kept.
 */
export function clipAround(text: string, start: number, end: number, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const room = Math.max(0, maxChars - (end - start));
  const latest = text.length - maxChars;
  let from = Math.max(0, Math.min(start - Math.floor(room / 2), latest));
  let to = Math.min(text.length, from + maxChars);
  if (startsInsidePair(text, from)) from++;
  if (startsInsidePair(text, to)) to = Math.max(from, to - 1);
  const before = from > 0 ? `(${from} characters) …` : "";
  const after = to < text.length ? `… (${text.length - to} more characters)` : "";
  return before + text.slice(from, to) + after;
}

export type Limits = { maxLines: number; maxBytes: number };
export type Cut = {
  text: string;
  keptLines: number;
  totalLines: number;
  keptBytes: number;
  totalBytes: number;
  cut: boolean;
  /** The one line kept is itself not whole. */
  lineCut: boolean;
};

/** The first whole lines within both limits; a first line above the byte limit is itself cut. */
export function headLines(text: string, limits: Limits): Cut {
  return keep(text, limits, "head");
}

/** The last whole lines within both limits; a last line above the byte limit keeps its end. */
export function tailLines(text: string, limits: Limits): Cut {
  return keep(text, limits, "tail");
}

function keep(text: string, limits: Limits, side: "head" | "tail"): Cut {
  const totalBytes = byteLength(text);
  const totalLines = countLines(text);
  if (totalLines <= limits.maxLines && totalBytes <= limits.maxBytes) {
    return { text, keptLines: totalLines, keptBytes: totalBytes, totalLines, totalBytes, cut: false, lineCut: false };
  }
  const kept = side === "head" ? keepHead(text, limits) : keepTail(text, limits);
  return { ...kept, keptBytes: byteLength(kept.text), totalLines, totalBytes, cut: true };
}

type Kept = Pick<Cut, "text" | "keptLines" | "lineCut">;

function keepHead(text: string, limits: Limits): Kept {
  let end = 0;
  let bytes = 0;
  let keptLines = 0;
  while (keptLines < limits.maxLines && end < text.length) {
    const next = lineEnd(text, end);
    // A line of more units than bytes left cannot fit; it is not measured.
    if (next - end > limits.maxBytes - bytes) break;
    bytes += byteLength(text.slice(end, next));
    if (bytes > limits.maxBytes) break;
    end = next;
    keptLines++;
  }
  if (keptLines > 0 || limits.maxLines < 1) return { text: text.slice(0, end), keptLines, lineCut: false };
  return { text: headBytes(text.slice(0, lineEnd(text, 0)), limits.maxBytes), keptLines: 1, lineCut: true };
}

function keepTail(text: string, limits: Limits): Kept {
  let start = text.length;
  let bytes = 0;
  let keptLines = 0;
  while (keptLines < limits.maxLines && start > 0) {
    const previous = lineStart(text, start);
    if (start - previous > limits.maxBytes - bytes) break;
    bytes += byteLength(text.slice(previous, start));
    if (bytes > limits.maxBytes) break;
    start = previous;
    keptLines++;
  }
  if (keptLines > 0 || limits.maxLines < 1) return { text: text.slice(start), keptLines, lineCut: false };
  return { text: tailBytes(text.slice(lineStart(text, text.length)), limits.maxBytes), keptLines: 1, lineCut: true };
}

function lineEnd(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  return newline === -1 ? text.length : newline + 1;
}

function lineStart(text: string, end: number): number {
  return end < 2 ? 0 : text.lastIndexOf("\n", end - 2) + 1;
}

/** Lines with their endings; the text after a final newline is not a line. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** As many as {@link splitLines} gives. */
export function countLines(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at = lineEnd(text, at)) count++;
  return count;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function startsInsidePair(text: string, index: number): boolean {
  return isBetween(text.charCodeAt(index - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(index), 0xdc00, 0xdfff);
}

function isBetween(unit: number, low: number, high: number): boolean {
  return unit >= low && unit <= high;
}
