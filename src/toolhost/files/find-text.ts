/** Where a text occurs in another. */
export type Occurrences = {
  /** Overlapping ones counted: `aa` is in `aaa` twice. */
  count: number;
  /** The first ones, at most {@link MAX_KEPT}. */
  offsets: number[];
};

export const MAX_KEPT = 1000;

/** The engine's own search, which is fast and quadratic, looks for this much of a pattern only. */
const ANCHOR_CHARS = 16;

/**
 * Knuth-Morris-Pratt: linear whatever the texts are. `indexOf` in a loop takes minutes for a megabyte of one letter, and
 * model and file can both be hostile. `pattern` is not empty.
 */
export function findText(text: string, pattern: string): Occurrences {
  const borders = bordersOf(pattern);
  const anchor = pattern.slice(0, ANCHOR_CHARS);
  const found: Occurrences = { count: 0, offsets: [] };
  let matched = 0;
  for (let index = text.indexOf(anchor); index !== -1 && index < text.length; ) {
    matched = extend(pattern, borders, matched, text.charCodeAt(index));
    index++;
    if (matched === pattern.length) note(found, index - pattern.length);
    if (matched === 0) index = text.indexOf(anchor, index);
  }
  return found;
}

/** The longest beginning of the pattern that occurs, and where that place ends; for words about a near miss. */
export function longestPrefix(text: string, pattern: string): { length: number; end: number } {
  const borders = bordersOf(pattern);
  const longest = { length: 0, end: 0 };
  let matched = 0;
  for (let index = 0; index < text.length; index++) {
    matched = extend(pattern, borders, matched, text.charCodeAt(index));
    if (matched <= longest.length) continue;
    longest.length = matched;
    longest.end = index + 1;
  }
  return longest;
}

/** How much of the pattern ends at a further unit, where `matched` of it ended before. */
function extend(pattern: string, borders: Int32Array, matched: number, unit: number): number {
  let length = matched;
  while (length > 0 && (length === pattern.length || pattern.charCodeAt(length) !== unit)) {
    length = borders[length - 1] ?? 0;
  }
  return pattern.charCodeAt(length) === unit ? length + 1 : length;
}

function note(found: Occurrences, offset: number): void {
  found.count++;
  if (found.offsets.length < MAX_KEPT) found.offsets.push(offset);
}

/** For each beginning of the pattern the length of its longest proper beginning that is also its end. */
function bordersOf(pattern: string): Int32Array {
  const borders = new Int32Array(pattern.length);
  let length = 0;
  for (let index = 1; index < pattern.length; index++) {
    const unit = pattern.charCodeAt(index);
    while (length > 0 && pattern.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (pattern.charCodeAt(length) === unit) length++;
    borders[index] = length;
  }
  return borders;
}
