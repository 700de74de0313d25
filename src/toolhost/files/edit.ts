import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { byteLength, countLines } from "../../core/truncate.ts";
import type { Outcome } from "../../protocol/messages.ts";
import type { ToolArgs } from "../../tools/catalogue.ts";
import type { CallContext, Handler } from "../context.ts";
import { cancelled, plural, shownSize } from "../notices.ts";
import { outcome, ToolFailure } from "../outcomes.ts";
import { type Applied, applyEdits } from "./edit-apply.ts";
import type { Edit } from "./edit-locate.ts";
import { changedRegions } from "./edit-regions.ts";
import { binaryKind, imageMime } from "./file-magic.ts";
import { oneAtATime } from "./file-queue.ts";
import type { Change } from "./line-diff.ts";
import { resolvePath, shownPath } from "./paths.ts";
import { openRegular, readUpTo } from "./regular-file.ts";
import { otherNamesNote, replaceFile } from "./replace-file.ts";
import { hashOf, MAX_EDIT_BYTES, remember } from "./seen.ts";
import { unifiedDiff } from "./unified-diff.ts";

export const handleEdit: Handler<"edit"> = async (args, context) => {
  const path = resolvePath(args.path, context.host.hello);
  return oneAtATime(
    () => realpath(path),
    (real) => editFile(real, args, context),
  );
};

async function editFile(real: string, args: ToolArgs<"edit">, { host, signal }: CallContext): Promise<Outcome> {
  host.guard.refuse(real);
  const { bytes, stats } = await readEditable(real, args.path);
  refuseStale(host.seen.get(real), bytes, args.path);
  const isText = isUtf8(bytes);
  // Bytes that are not UTF-8 are worked on one by one as latin1, so that none of them is ever decoded and re-encoded.
  const encoding = isText ? "utf8" : "latin1";
  const before = bytes.toString(encoding);
  const applied = await applyEdits(before, args.edits, { isText, signal });
  if (applied === undefined || signal.aborted) return cancelled("nothing was changed");
  const after = Buffer.from(applied.text, encoding);
  await refuseChanged(real, stats, args.path);
  const otherNames = await replaceFile({ real, shown: args.path, bytes: after, old: stats });
  remember(host, real, after.length <= MAX_EDIT_BYTES ? hashOf(after) : undefined);
  const texts = isText
    ? { before, after: applied.text }
    : { before: bytes.toString("utf8"), after: after.toString("utf8") };
  const regions = applied.spans.length > 1 ? changedRegions(before, applied.spans) : undefined;
  return report({ args, real, texts, bytes: after.length, applied, regions, isText, otherNames });
}

async function readEditable(real: string, shown: string): Promise<{ bytes: Buffer; stats: Stats }> {
  const { handle, stats } = await openRegular(real, shown);
  try {
    const bytes = await readUpTo(handle, MAX_EDIT_BYTES + 1, stats.size);
    const name = `\`${shownPath(shown)}\``;
    if (bytes.length > MAX_EDIT_BYTES) {
      const size = shownSize(Math.max(stats.size, bytes.length));
      throw new ToolFailure(
        `${name} has ${size}; edit takes at most ${shownSize(MAX_EDIT_BYTES)}, use bash (sed) for larger files`,
      );
    }
    const kind = binaryKind(bytes);
    if (kind !== undefined)
      throw new ToolFailure(`${name} is binary (${imageMime(bytes) ?? kind}); edit changes text only`);
    return { bytes, stats };
  } finally {
    await handle.close();
  }
}

function refuseStale(seen: string | undefined, bytes: Buffer, shown: string): void {
  if (seen === undefined || seen === hashOf(bytes)) return;
  throw new ToolFailure(
    `\`${shownPath(shown)}\` changed since you last read it; nothing was changed. Read it again, then edit`,
  );
}

/** A background job may write the file while it is edited; what it wrote is not lost. */
async function refuseChanged(real: string, { size, mtimeMs }: Stats, shown: string): Promise<void> {
  const now = await stat(real);
  if (now.size === size && now.mtimeMs === mtimeMs) return;
  throw new ToolFailure(
    `\`${shownPath(shown)}\` was changed by something else during the edit; nothing was changed by it. Read it again, then edit`,
  );
}

type Edited = {
  args: ToolArgs<"edit">;
  real: string;
  /** As people see it; U+FFFD stands for what is not UTF-8. */
  texts: { before: string; after: string };
  bytes: number;
  applied: Applied;
  regions: Change[] | undefined;
  isText: boolean;
  otherNames: number;
};

function report({ args, real, texts, bytes, applied, regions, isText, otherNames }: Edited): Outcome {
  const diff = unifiedDiff(args.path, texts.before, texts.after, regions);
  const summary = `Edited ${shownPath(args.path)}: ${plural(applied.spans.length, "replacement")}, +${diff.added} -${diff.removed} lines`;
  const notes = [
    ...closenessNotes(applied),
    ...(isText ? [] : encodingNotes(args.edits)),
    ...otherNamesNote(otherNames),
  ];
  return outcome("ok", [summary, ...notes].join("; "), {
    path: real,
    bytes,
    lines: countLines(texts.after),
    added: diff.added,
    removed: diff.removed,
    ...(diff.text !== "" && { diff: diff.text }),
  });
}

function closenessNotes({ spans }: Applied): string[] {
  const named = (closeness: string) => {
    const indexes = spans.filter((span) => span.closeness === closeness).map((span) => span.index + 1);
    const which = spans.length === 1 ? "oldText" : `edit ${indexes.sort((a, b) => a - b).join(", ")}`;
    return indexes.length > 0 ? which : undefined;
  };
  const endings = named("endings");
  const forms = named("forms");
  return [
    ...(endings ? [`${endings} was not an exact match: line endings differ, the file's were kept`] : []),
    ...(forms
      ? [
          `${forms} was not an exact match: blanks, quotes, dashes or forms of characters differ; only the matched text was replaced`,
        ]
      : []),
  ];
}

function encodingNotes(edits: readonly Edit[]): string[] {
  const foreign = edits.some(({ newText }) => byteLength(newText) > newText.length);
  return [
    "the file is not valid UTF-8, its other bytes are untouched",
    ...(foreign ? ["newText was written as UTF-8"] : []),
  ];
}
