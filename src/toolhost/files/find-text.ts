/** Where a text occurs in another. */
export type Occurrences = {
  /** Overlapping ones counted: `aa` is in `aaa` twice. */
  count: number;
  /** The first ones, at most {@link MAX_KEPT}. */
  offsets: number[];
  /** The longest beginning of the pattern that occurs, and where that place ends; for words about a near miss. */
  longestPrefix: { length: number; end: number };
};

export const MAX_KEPT = 1000;

/**
 * Knuth-Morris-Pratt: linear whatever the texts are. `indexOf` in a loop takes minutes for a megabyte of one letter, and
 * model and file can both be hostile. `pattern` is not empty.
 */
export function findText(text: string, pattern: string): Occurrences {
  const borders = bordersOf(pattern);
  const found: Occurrences = { count: 0, offsets: [], longestPrefix: { length: 0, end: 0 } };
  let matched = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    while (matched > 0 && (matched === pattern.length || pattern.charCodeAt(matched) !== unit)) {
      matched = borders[matched - 1] ?? 0;
    }
    if (pattern.charCodeAt(matched) === unit) matched++;
    if (matched > found.longestPrefix.length) found.longestPrefix = { length: matched, end: index + 1 };
    if (matched === pattern.length) note(found, index + 1 - pattern.length);
  }
  return found;
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
