import type { Span } from "./edit-locate.ts";
import type { Change } from "./line-diff.ts";

/** The whole lines each of these edits of `text` is in, before and after; those that share a line are one. In order. */
export function changedRegions(text: string, spans: readonly Span[]): Change[] {
  const regions: Change[] = [];
  let at = 0;
  let line = 0;
  let grown = 0;
  for (const { start, end, replacement } of spans) {
    line += newlines(text, at, start);
    const height = newlines(text, start, end);
    const newFrom = line + grown;
    grown += newlines(replacement, 0, replacement.length) - height;
    const last = regions.at(-1);
    const region = { oldFrom: line, oldTo: line + height + 1, newFrom, newTo: line + height + 1 + grown };
    if (last && region.oldFrom < last.oldTo) Object.assign(last, { oldTo: region.oldTo, newTo: region.newTo });
    else regions.push(region);
    line += height;
    at = end;
  }
  return regions;
}

function newlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
