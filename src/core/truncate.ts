/** The only place that shortens text: cuts at code points, in bytes of UTF-8, and tells what is missing. */

/** `text` without lone surrogates, so that it is valid JSON and UTF-8 everywhere. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** The longest prefix of at most `maxBytes` bytes of UTF-8 that ends at a code point. */
export function headBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text, "utf8");
  let end = maxBytes;
  while (end > 0 && isContinuation(bytes[end])) end--;
  return bytes.toString("utf8", 0, end);
}

/** The longest suffix of at most `maxBytes` bytes of UTF-8 that begins at a code point. */
export function tailBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text, "utf8");
  let start = bytes.length - maxBytes;
  while (start < bytes.length && isContinuation(bytes[start])) start++;
  return bytes.toString("utf8", start);
}

/** At most `maxChars` UTF-16 units of `text`, then `…` and how many characters were left out. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let end = maxChars;
  if (isHighSurrogate(text.charCodeAt(end - 1))) end--;
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}

export type Limits = { maxLines: number; maxBytes: number };
export type Cut = {
  text: string;
  keptLines: number;
  totalLines: number;
  keptBytes: number;
  totalBytes: number;
  cut: boolean;
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
  const lines = splitLines(text);
  const whole = { totalLines: lines.length, totalBytes };
  if (lines.length <= limits.maxLines && totalBytes <= limits.maxBytes) {
    return { text, keptLines: lines.length, keptBytes: totalBytes, ...whole, cut: false };
  }
  const kept: string[] = [];
  let bytes = 0;
  for (const line of side === "head" ? lines : lines.toReversed()) {
    const size = byteLength(line);
    if (kept.length === limits.maxLines || bytes + size > limits.maxBytes) break;
    kept.push(line);
    bytes += size;
  }
  if (kept.length === 0) {
    const line = (side === "head" ? lines[0] : lines.at(-1)) ?? "";
    kept.push(side === "head" ? headBytes(line, limits.maxBytes) : tailBytes(line, limits.maxBytes));
  }
  const joined = (side === "head" ? kept : kept.reverse()).join("");
  return { text: joined, keptLines: kept.length, keptBytes: byteLength(joined), ...whole, cut: true };
}

/** Lines with their endings; the text after a final newline is not a line. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
