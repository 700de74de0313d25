import { setImmediate as nextTurn } from "node:timers/promises";
import { isWellFormed } from "../../core/truncate.ts";
import { ToolFailure } from "../outcomes.ts";
import { type Edit, locate, Original, type Span } from "./edit-locate.ts";

export type Applied = { text: string; spans: (Span & { index: number })[] };

/** Below the deadline of file tools, so that thousands of edits of a large file end in words and not as a lost call. */
const LOCATE_MS = 30_000;

/**
 * `text` with every edit made, each matched against `text` itself; undefined when `signal` was aborted. Throws
 * ToolFailure, in words that help, where one is empty, absent, ambiguous, without effect or overlaps another. `isText`:
 * false for bytes read as latin1.
 */
export async function applyEdits(
  text: string,
  edits: readonly Edit[],
  { isText, signal }: { isText: boolean; signal: AbortSignal },
): Promise<Applied | undefined> {
  const original = new Original(text, isText);
  const spans: Applied["spans"] = [];
  const giveUpAt = performance.now() + LOCATE_MS;
  for (const [index, edit] of edits.entries()) {
    // The channel is served between two edits: a cancel arrives, and the controller does not take us for dead.
    if (index > 0) await nextTurn();
    if (signal.aborted) return undefined;
    if (performance.now() > giveUpAt) throw tooLong(index, edits.length);
    const label = edits.length === 1 ? "" : `Edit ${index + 1} of ${edits.length}: `;
    spans.push({ ...locateOne(original, edit, label), index });
  }
  spans.sort((a, b) => a.start - b.start || a.end - b.end);
  refuseOverlap(spans, original);
  return { text: splice(text, spans), spans };
}

function locateOne(original: Original, edit: Edit, label: string): Span {
  refuseUnusable(edit, label);
  // Only what is known to be UTF-8 is turned into its bytes: half a pair would become U+FFFD.
  const span = locate(original, original.isText ? edit : asBytes(edit), label);
  if (original.text.slice(span.start, span.end) === span.replacement) throw noChange(edit, label);
  return span;
}

function asBytes({ oldText, newText }: Edit): Edit {
  return { oldText: utf8AsLatin1(oldText), newText: utf8AsLatin1(newText) };
}

function utf8AsLatin1(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function tooLong(done: number, count: number): ToolFailure {
  return new ToolFailure(
    `Only ${done} of ${count} edits were found within ${LOCATE_MS / 1000} s; nothing was changed. Send fewer at a time, or use bash`,
  );
}

function refuseUnusable({ oldText, newText }: Edit, label: string): void {
  if (oldText === "")
    throw new ToolFailure(`${label}oldText is empty; name the text to replace, or use write for a whole file`);
  if (!isWellFormed(oldText) || !isWellFormed(newText)) {
    throw new ToolFailure(
      `${label}the text holds half of a surrogate pair, which no UTF-8 file can hold; nothing was changed`,
    );
  }
}

function noChange({ oldText, newText }: Edit, label: string): ToolFailure {
  const why =
    oldText === newText
      ? "oldText and newText are the same"
      : "newText only differs in line endings, which follow the file's; use bash to change those";
  return new ToolFailure(`${label}no change: ${why}; nothing was changed`);
}

function refuseOverlap(spans: Applied["spans"], original: Original): void {
  for (const [at, span] of spans.entries()) {
    const before = spans[at - 1];
    if (before === undefined || before.end <= span.start) continue;
    const [first, second] = [before.index + 1, span.index + 1].sort((a, b) => a - b);
    const line = original.lineAt(span.start);
    throw new ToolFailure(
      `Edits ${first} and ${second} overlap at line ${line}; nothing was changed. Join them into one edit`,
    );
  }
}

function splice(text: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, replacement } of spans) {
    parts.push(text.slice(at, start), replacement);
    at = end;
  }
  parts.push(text.slice(at));
  return parts.join("");
}
