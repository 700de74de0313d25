import { byteLength, clip, clipAround, countLines, headLines, splitLines } from "../../core/truncate.ts";
import { escapeControls, visibleLine } from "../../core/visible.ts";
import { type Change, lineChanges } from "./line-diff.ts";

const CONTEXT = 3;
const DIFF_LIMITS = { maxLines: 2000, maxBytes: 64 * 1024 };
/** What is shown of a longer line, around its change, where a diff would not fit otherwise. */
const CLIPPED_CHARS = 1000;

export type FileDiff = { text: string; added: number; removed: number };

/**
 * A unified diff for people; `before` undefined for a new file. Bounded, and says what was left out; the counts are of
 * all lines. `regions`: where the differences are, if that is known; many of them cost no more to compare than few.
 */
export function unifiedDiff(
  path: string,
  before: string | undefined,
  after: string,
  regions?: readonly Change[],
): FileDiff {
  const lines = regions ? wholeLines(before ?? "", after) : differingLines(before ?? "", after);
  const changes = regions
    ? regions.flatMap((region) => changesWithin(region, lines))
    : lineChanges(lines.oldLines, lines.newLines);
  const header = `--- ${before === undefined ? "/dev/null" : headerName("a", path)}\n+++ ${headerName("b", path)}\n`;
  return {
    text: changes.length === 0 ? "" : header + bounded(hunks(changes, lines)),
    added: changes.reduce((sum, { newFrom, newTo }) => sum + newTo - newFrom, 0),
    removed: changes.reduce((sum, { oldFrom, oldTo }) => sum + oldTo - oldFrom, 0),
  };
}

function hunks(changes: readonly Change[], lines: Lines): string {
  const all = groups(changes);
  const text = all.map((group) => hunk(group, lines)).join("");
  if (byteLength(text) <= DIFF_LIMITS.maxBytes) return text;
  const clipped = clippedLines(changes, lines);
  return all.map((group) => hunk(group, clipped)).join("");
}

function changesWithin({ oldFrom, oldTo, newFrom, newTo }: Change, { oldLines, newLines }: Lines): Change[] {
  return lineChanges(oldLines.slice(oldFrom, oldTo), newLines.slice(newFrom, newTo)).map((change) => ({
    oldFrom: change.oldFrom + oldFrom,
    oldTo: change.oldTo + oldFrom,
    newFrom: change.newFrom + newFrom,
    newTo: change.newTo + newFrom,
  }));
}

/** A line that takes the place of another is shown around where they part, any other from its beginning. */
function clippedLines(changes: readonly Change[], { oldLines, newLines, skipped }: Lines): Lines {
  const clipped = { oldLines: oldLines.map(clippedHead), newLines: newLines.map(clippedHead), skipped };
  for (const { oldFrom, oldTo, newFrom, newTo } of changes) {
    for (let at = 0; at < Math.min(oldTo - oldFrom, newTo - newFrom); at++) {
      const [old, changed] = [oldLines[oldFrom + at] ?? "", newLines[newFrom + at] ?? ""];
      if (Math.max(old.length, changed.length) <= CLIPPED_CHARS) continue;
      const shorter = Math.min(old.length, changed.length);
      const head = commonLength(old, changed, shorter, sliceFromStart);
      const tail = commonLength(old, changed, shorter - head, sliceFromEnd);
      clipped.oldLines[oldFrom + at] = clipLine(old, head, old.length - tail);
      clipped.newLines[newFrom + at] = clipLine(changed, head, changed.length - tail);
    }
  }
  return clipped;
}

function clippedHead(line: string): string {
  if (line.length <= CLIPPED_CHARS) return line;
  return clip(line.replace(/\n$/, ""), CLIPPED_CHARS) + lineBreak(line);
}

function clipLine(line: string, from: number, to: number): string {
  return clipAround(line.replace(/\n$/, ""), from, to, CLIPPED_CHARS) + lineBreak(line);
}

function lineBreak(line: string): string {
  return line.endsWith("\n") ? "\n" : "";
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern is for
const QUOTED_IN_NAMES = /[\0-\x1f\x7f"\\]/g;

/** As git writes it: quoted where it could be taken for something else, with a tab behind where it holds a blank. */
function headerName(side: "a" | "b", path: string): string {
  const name = `${side}/${path.replace(/^\/+/, "")}`;
  const quoted = name.replace(QUOTED_IN_NAMES, (char) =>
    char === '"' || char === "\\" ? `\\${char}` : `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
  if (quoted !== name) return `"${visibleLine(quoted)}"`;
  return name.includes(" ") ? `${visibleLine(name)}\t` : visibleLine(name);
}

function bounded(hunks: string): string {
  const cut = headLines(escapeControls(hunks), DIFF_LIMITS);
  if (!cut.cut) return cut.text;
  const ending = cut.text.endsWith("\n") ? "" : "\n";
  const left = cut.lineCut
    ? `${cut.totalBytes - cut.keptBytes} more bytes`
    : `${cut.totalLines - cut.keptLines} more lines`;
  return `${cut.text}${ending}… ${left} of diff\n`;
}

type Lines = { oldLines: string[]; newLines: string[]; skipped: number };

function wholeLines(before: string, after: string): Lines {
  return { oldLines: splitLines(before), newLines: splitLines(after), skipped: 0 };
}

function differingLines(before: string, after: string): Lines {
  const { start, skipped, oldEnd, newEnd } = differingRegion(before, after);
  return {
    oldLines: splitLines(before.slice(start, oldEnd)),
    newLines: splitLines(after.slice(start, newEnd)),
    skipped,
  };
}

type Region = { start: number; skipped: number; oldEnd: number; newEnd: number };

/** What is left without the common beginning and end but for their context, so that a large file is not split in lines. */
function differingRegion(before: string, after: string): Region {
  const head = commonLength(before, after, Math.min(before.length, after.length), sliceFromStart);
  const tail = commonLength(before, after, Math.min(before.length, after.length) - head, sliceFromEnd);
  let start = lineStart(before, head);
  for (let line = 0; line < CONTEXT && start > 0; line++) start = lineStart(before, start - 1);
  let oldEnd = before.length - tail;
  for (let line = 0; line <= CONTEXT && oldEnd < before.length; line++)
    oldEnd = before.indexOf("\n", oldEnd) + 1 || before.length;
  return {
    start,
    skipped: countLines(before.slice(0, start)),
    oldEnd,
    newEnd: after.length - (before.length - oldEnd),
  };
}

type Slice = (text: string, from: number, to: number) => string;
const sliceFromStart: Slice = (text, from, to) => text.slice(from, to);
const sliceFromEnd: Slice = (text, from, to) => text.slice(text.length - to, text.length - from);

const COMPARED_CHARS = 4096;

/** How many units of both are the same, at most `most`; compared in pieces, since that is what an engine does fast. */
function commonLength(a: string, b: string, most: number, slice: Slice): number {
  let same = 0;
  for (let step = COMPARED_CHARS; step >= 1; step = Math.floor(step / 8)) {
    while (same + step <= most && slice(a, same, same + step) === slice(b, same, same + step)) same += step;
  }
  return same;
}

function lineStart(text: string, at: number): number {
  // lastIndexOf(-1) would look at 0.
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

/** Changes whose context would touch stand in one hunk. */
function groups(changes: readonly Change[]): Change[][] {
  const result: Change[][] = [];
  for (const change of changes) {
    const group = result.at(-1);
    const last = group?.at(-1);
    if (group && last && change.oldFrom - last.oldTo <= 2 * CONTEXT) group.push(change);
    else result.push([change]);
  }
  return result;
}

function hunk(group: readonly Change[], { oldLines, newLines, skipped }: Lines): string {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) return "";
  const lead = Math.min(CONTEXT, first.oldFrom);
  const trail = Math.min(CONTEXT, oldLines.length - last.oldTo);
  const body: string[][] = [];
  let at = first.oldFrom - lead;
  for (const { oldFrom, oldTo, newFrom, newTo } of group) {
    body.push(marked(" ", oldLines.slice(at, oldFrom)));
    body.push(marked("-", oldLines.slice(oldFrom, oldTo)));
    body.push(marked("+", newLines.slice(newFrom, newTo)));
    at = oldTo;
  }
  body.push(marked(" ", oldLines.slice(at, at + trail)));
  const oldRange = range(skipped + first.oldFrom - lead, skipped + last.oldTo + trail);
  const newRange = range(skipped + first.newFrom - lead, skipped + last.newTo + trail);
  return `@@ -${oldRange} +${newRange} @@\n${body.flat().join("")}`;
}

/** As diff -u counts: an empty range names the line before it. */
function range(from: number, to: number): string {
  const length = to - from;
  return length === 1 ? `${from + 1}` : `${length === 0 ? from : from + 1},${length}`;
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.map((line) => (line.endsWith("\n") ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`));
}
