/**
 * What an edit must do, said once more and in bytes alone, as slowly and plainly as can be: the oracle of tests of `edit`.
 * It shares no code with the tool. Bytes are strings of latin1, one character each.
 */
export type ModelEdit = { oldText: string; newText: string };

export type Expected =
  | { kind: "changed"; bytes: string; exact: boolean }
  | { kind: "refused"; words: RegExp }
  /** Found exactly in no sense of bytes: it may be found by forms of characters, see {@link isLooseChange}, or refused. */
  | { kind: "loose" };

type Span = { start: number; end: number; bytes: string; exact: boolean };

export function utf8(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

export function expectedEdit(file: string, edits: readonly ModelEdit[]): Expected {
  const spans: Span[] = [];
  let loose = false;
  for (const edit of edits) {
    const found = expectedSpan(file, edit);
    if (found instanceof RegExp) return loose ? { kind: "loose" } : { kind: "refused", words: found };
    if (found === undefined) loose = true;
    else spans.push(found);
  }
  if (loose) return { kind: "loose" };
  const sorted = spans.toSorted((a, b) => a.start - b.start || a.end - b.end);
  if (sorted.some((span, at) => at > 0 && (sorted[at - 1] as Span).end > span.start))
    return { kind: "refused", words: /overlap/ };
  let bytes = "";
  let at = 0;
  for (const span of sorted) {
    bytes += file.slice(at, span.start) + span.bytes;
    at = span.end;
  }
  return { kind: "changed", bytes: bytes + file.slice(at), exact: spans.every(({ exact }) => exact) };
}

/** The span, or the words of a refusal, or undefined where only forms of characters could match. */
function expectedSpan(file: string, { oldText, newText }: ModelEdit): Span | RegExp | undefined {
  if (oldText === "") return /oldText is empty/;
  if (/\p{Surrogate}/u.test(oldText) || /\p{Surrogate}/u.test(newText)) return /half of a surrogate pair/;
  const place = exactPlace(file, utf8(oldText)) ?? placeByEndings(file, utf8(oldText));
  if (place === undefined || place instanceof RegExp) return place;
  const bytes = withEndings(file, place, { oldText: utf8(oldText), newText: utf8(newText) });
  if (bytes === file.slice(place.start, place.end)) return /no change/;
  return { ...place, bytes };
}

type Place = Pick<Span, "start" | "end" | "exact">;

function exactPlace(file: string, wanted: string): Place | RegExp | undefined {
  const starts = startsOf(file, wanted);
  const [start] = starts;
  if (start === undefined) return undefined;
  if (starts.length > 1) return new RegExp(`occurs ${starts.length} times, at lines? `);
  // A break of two bytes is never cut in two: behind its CR that is refused, before its LF the CR comes along.
  if (wanted.endsWith("\r") && file[start + wanted.length] === "\n") return /between the CR and the LF/;
  const cut = wanted.startsWith("\n") && file[start - 1] === "\r";
  return { start: cut ? start - 1 : start, end: start + wanted.length, exact: !cut };
}

function placeByEndings(file: string, wanted: string): Place | RegExp | undefined {
  // Each byte of the file without the CRs before LFs, and where it stands in the file.
  const kept = [...file].map((_, at) => at).filter((at) => !(file[at] === "\r" && file[at + 1] === "\n"));
  const plain = kept.map((at) => file[at]).join("");
  const lf = wanted.replaceAll("\r\n", "\n");
  const starts = startsOf(plain, lf);
  const [start] = starts;
  if (start === undefined) return undefined;
  if (starts.length > 1) return new RegExp(`occurs ${starts.length} times \\(not exactly`);
  const first = kept[start] as number;
  const last = kept[start + lf.length - 1] as number;
  return { start: file[first] === "\n" && file[first - 1] === "\r" ? first - 1 : first, end: last + 1, exact: false };
}

/** Overlapping ones too. */
function startsOf(file: string, wanted: string): number[] {
  const starts: number[] = [];
  for (let at = 0; at + wanted.length <= file.length; at++) if (file.startsWith(wanted, at)) starts.push(at);
  return starts;
}

/** The new bytes with the line ends of the region they replace. */
function withEndings(file: string, { start, end }: Place, { oldText, newText }: ModelEdit): string {
  const endings: string[] = [];
  for (let at = start; at < end; at++)
    if (file[at] === "\n") endings.push(at > start && file[at - 1] === "\r" ? "\r\n" : "\n");
  if (endings.length === 0) {
    let at = end;
    while (at < file.length && file[at] !== "\n") at++;
    if (at === file.length) for (at = start - 1; at >= 0 && file[at] !== "\n"; ) at--;
    if (at >= 0) endings.push(file[at - 1] === "\r" ? "\r\n" : "\n");
  }
  const parts = newText.split(/(\r?\n)/);
  for (let at = 1; at < parts.length; at += 2) {
    const ending = endings[Math.min((at - 1) / 2, endings.length - 1)];
    const meant = ending === "\n" && !oldText.includes("\r\n") ? parts[at] : ending;
    parts[at] = meant ?? (parts[at] as string);
  }
  return parts.join("");
}

/**
 * Whether `after` is `before` with some span of each edit's own replaced, in whatever order, where each span and its
 * `oldText` are the same but for line endings, blanks and forms of characters, and nothing else changed. Each `newText`
 * must be known by `tokens`, a beginning and an end that stand nowhere else.
 */
export function isLooseChange(
  before: string,
  after: string,
  edits: readonly (ModelEdit & { tokens: readonly [string, string] })[],
): boolean {
  const pieces = edits.map(({ oldText, tokens: [open, close] }) => {
    const from = after.indexOf(open);
    return { key: looseKey(oldText), from, to: after.indexOf(close, from) + close.length };
  });
  if (pieces.some(({ from, to }) => from < 0 || to < from)) return false;
  const sorted = pieces.toSorted((a, b) => a.from - b.from);
  const kept = [
    ...sorted.map(({ from }, at) => after.slice(sorted[at - 1]?.to ?? 0, from)),
    after.slice(sorted.at(-1)?.to),
  ];
  return tiles(
    before,
    kept,
    sorted.map(({ key }) => key),
  );
}

/** `rest` is kept[0], a span with keys[0], kept[1], …, the last of kept. */
function tiles(rest: string, kept: readonly string[], keys: readonly string[]): boolean {
  const [first = "", ...others] = kept;
  if (!rest.startsWith(first)) return false;
  if (keys.length === 0) return rest === first;
  const from = first.length;
  for (let to = from; to <= rest.length; to++)
    if (looseKey(fromBytes(rest.slice(from, to))) === keys[0] && tiles(rest.slice(to), others, keys.slice(1)))
      return true;
  return false;
}

function fromBytes(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** Equal for texts that count as the same: only more are equal by it than by the tool, which looks at lines' ends alone. */
function looseKey(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[‘’‚‛]/g, "'")
    .replace(/[“”„‟]/g, '"')
    .replace(/[‐-―−]/g, "-")
    .replace(/\r\n/g, "\n")
    .replace(/[^\S\n]+(?=\n|$)/g, "")
    .replace(/[^\S\n\t]/g, " ");
}
