/** One run of lines that differ: `old` from..to was replaced by `new` from..to (ends exclusive, lines from 0). */
export type Change = { oldFrom: number; oldTo: number; newFrom: number; newTo: number };

/** Differences beyond which a region counts as rewritten: 2 x 400 x 400 steps are 10 ms. */
const MAX_DISTANCE = 400;

/** Lines of both together beyond which no anchors are looked for: their tables would be larger than the texts. */
const MAX_ANCHORED_LINES = 400_000;

/**
 * The lines that differ, in order; by Myers' shortest edit script (1986) between the common beginning and end, and where
 * that is too long between lines that stand once in both.
 */
export function lineChanges(oldLines: readonly string[], newLines: readonly string[]): Change[] {
  const shorter = Math.min(oldLines.length, newLines.length);
  let head = 0;
  while (head < shorter && oldLines[head] === newLines[head]) head++;
  let tail = 0;
  while (tail < shorter - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail++;
  const oldTo = oldLines.length - tail;
  const newTo = newLines.length - tail;
  if (head === oldTo && head === newTo) return [];
  const numbers = new Map<string, number>();
  const a = numbered(oldLines.slice(head, oldTo), numbers);
  const b = numbered(newLines.slice(head, newTo), numbers);
  const pairs = equalPairs(a, b) ?? pairsBetween(anchors(a, b), a, b);
  return toChanges(pairs, a.length, b.length).map((change) => shift(change, head));
}

type Pair = readonly [number, number];

function equalPairs(a: readonly number[], b: readonly number[]): Pair[] | undefined {
  const trace = shortestScript(a, b);
  return trace && backtrack(trace, a.length, b.length);
}

/** The anchors and what is equal between each two of them; nothing is where that too is beyond the limit. */
function pairsBetween(anchored: readonly Pair[], a: readonly number[], b: readonly number[]): Pair[] {
  const pairs: Pair[] = [];
  let [x, y] = [0, 0];
  for (const [toX, toY] of [...anchored, [a.length, b.length] as const]) {
    const between = anchored.length === 0 ? [] : (equalPairs(a.slice(x, toX), b.slice(y, toY)) ?? []);
    for (const [dx, dy] of between) pairs.push([x + dx, y + dy]);
    if (toX < a.length) pairs.push([toX, toY]);
    [x, y] = [toX + 1, toY + 1];
  }
  return pairs;
}

/** The most lines that stand once in both and in the same order (Cohen's patience diff). */
function anchors(a: readonly number[], b: readonly number[]): Pair[] {
  if (a.length + b.length > MAX_ANCHORED_LINES) return [];
  const inA = placesOfSingles(a);
  const laid: { pair: Pair; previous: number }[] = [];
  const tops: number[] = [];
  const shared = [...placesOfSingles(b)].flatMap(([line, y]) => {
    const x = inA.get(line);
    return x === undefined ? [] : [[x, y] as const];
  });
  for (const pair of shared.sort((first, second) => first[0] - second[0])) {
    const pile = firstAtLeast(tops.length, (at) => (laid[tops[at] ?? 0]?.pair[1] ?? 0) >= pair[1]);
    laid.push({ pair, previous: tops[pile - 1] ?? -1 });
    tops[pile] = laid.length - 1;
  }
  const longest: Pair[] = [];
  for (let at = laid[tops.at(-1) ?? -1]; at !== undefined; at = laid[at.previous]) longest.push(at.pair);
  return longest.reverse();
}

function placesOfSingles(lines: readonly number[]): Map<number, number> {
  const places = new Map<number, number>();
  const repeated = new Set<number>();
  for (const [at, line] of lines.entries()) {
    if (places.has(line)) repeated.add(line);
    places.set(line, at);
  }
  for (const line of repeated) places.delete(line);
  return places;
}

function firstAtLeast(length: number, holds: (at: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Equal lines get equal numbers: long lines that differ only at their ends are compared once and not on every diagonal.
function numbered(lines: readonly string[], numbers: Map<string, number>): number[] {
  return lines.map((line) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  });
}

/** The furthest reaching points after each number of differences; undefined above the limit. */
function shortestScript(a: readonly number[], b: readonly number[]): Int32Array[] | undefined {
  const limit = Math.min(MAX_DISTANCE, a.length + b.length);
  const trace: Int32Array[] = [];
  const reach = new Int32Array(2 * limit + 3);
  for (let distance = 0; distance <= limit; distance++) {
    trace.push(reach.slice(limit - distance, limit + distance + 3));
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      let x = nextX(reach, limit + 1 + diagonal, diagonal, distance);
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      reach[limit + 1 + diagonal] = x;
      if (x >= a.length && x - diagonal >= b.length) return trace;
    }
  }
  return undefined;
}

function nextX(reach: Int32Array, index: number, diagonal: number, distance: number): number {
  const below = reach[index + 1] ?? 0;
  const left = reach[index - 1] ?? 0;
  const down = diagonal === -distance || (diagonal !== distance && left < below);
  return down ? below : left + 1;
}

/** The pairs of equal lines on the way, from the end to the beginning. */
function backtrack(trace: readonly Int32Array[], oldLength: number, newLength: number): Pair[] {
  const equal: Pair[] = [];
  let x = oldLength;
  let y = newLength;
  for (let distance = trace.length - 1; distance >= 0; distance--) {
    const reach = trace[distance] ?? new Int32Array(0);
    const diagonal = x - y;
    const index = distance + 1 + diagonal;
    const startX = distance === 0 ? 0 : nextX(reach, index, diagonal, distance);
    while (x > startX && y > startX - diagonal) equal.push([--x, --y]);
    if (distance === 0) break;
    const down = diagonal === -distance || (diagonal !== distance && (reach[index - 1] ?? 0) < (reach[index + 1] ?? 0));
    if (down) y--;
    else x--;
  }
  return equal.reverse();
}

function toChanges(equal: readonly Pair[], oldLength: number, newLength: number): Change[] {
  const changes: Change[] = [];
  let oldFrom = 0;
  let newFrom = 0;
  for (const [oldTo, newTo] of [...equal, [oldLength, newLength] as const]) {
    if (oldTo > oldFrom || newTo > newFrom) changes.push({ oldFrom, oldTo, newFrom, newTo });
    oldFrom = oldTo + 1;
    newFrom = newTo + 1;
  }
  return changes;
}

function shift(change: Change, by: number): Change {
  const { oldFrom, oldTo, newFrom, newTo } = change;
  return { oldFrom: oldFrom + by, oldTo: oldTo + by, newFrom: newFrom + by, newTo: newTo + by };
}
