import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { readFile } from "node:fs/promises";
import { countLines, isWellFormed } from "../../core/truncate.ts";
import type { Outcome } from "../../protocol/messages.ts";
import type { ToolArgs } from "../../tools/catalogue.ts";
import type { CallContext, Handler } from "../context.ts";
import { cancelled, plural } from "../notices.ts";
import { outcome, ToolFailure } from "../outcomes.ts";
import { binaryKind } from "./file-magic.ts";
import { oneAtATime } from "./file-queue.ts";
import { realTarget, resolvePath, shownPath } from "./paths.ts";
import { refuseSpecial } from "./regular-file.ts";
import { makeParents, otherNamesNote, replaceFile, statIfThere } from "./replace-file.ts";
import { hashOf, MAX_EDIT_BYTES, remember } from "./seen.ts";
import { unifiedDiff } from "./unified-diff.ts";

/** Above this the old content is not compared with the new one. */
const MAX_DIFF_BYTES = 1024 * 1024;

export const handleWrite: Handler<"write"> = async (args, context) => {
  if (!isWellFormed(args.content)) {
    throw new ToolFailure(
      "`content` holds half of a surrogate pair, which no UTF-8 file can hold; nothing was written",
    );
  }
  const path = resolvePath(args.path, context.host.hello);
  return oneAtATime(
    () => realTarget(path),
    (real) => writeWhole(real, args, context),
  );
};

async function writeWhole(real: string, args: ToolArgs<"write">, { host, signal }: CallContext): Promise<Outcome> {
  host.guard.refuse(real);
  if (signal.aborted) return cancelled("nothing was written");
  const old = await statIfThere(real);
  if (old !== undefined) refuseSpecial(old, args.path);
  const before = old && (await oldText(real, old));
  const bytes = Buffer.from(args.content, "utf8");
  if (args.path.endsWith("/")) throw new ToolFailure(`\`${shownPath(args.path)}\` names a directory; add a file name`);
  if (old === undefined) await makeParents(real);
  const otherNames = await replaceFile({ real, shown: args.path, bytes, old });
  remember(host, real, bytes.length <= MAX_EDIT_BYTES ? hashOf(bytes) : undefined);
  return report({ args, real, created: old === undefined, before, bytes: bytes.length, otherNames });
}

/** Undefined when it is too long or not text: then there is no diff. */
async function oldText(real: string, old: Stats): Promise<string | undefined> {
  if (old.size > MAX_DIFF_BYTES) return undefined;
  // A file that may be written but not read can still be replaced.
  const bytes = await readFile(real).catch(() => undefined);
  return bytes && isUtf8(bytes) && binaryKind(bytes) === undefined ? bytes.toString("utf8") : undefined;
}

type Written = {
  args: ToolArgs<"write">;
  real: string;
  created: boolean;
  before: string | undefined;
  bytes: number;
  otherNames: number;
};

function report({ args, real, created, before, bytes, otherNames }: Written): Outcome {
  const lines = countLines(args.content);
  const comparable = created || (args.content.length <= MAX_DIFF_BYTES && before !== undefined);
  const diff = comparable ? unifiedDiff(args.path, before, args.content) : undefined;
  const same = !created && before === args.content ? ["the content is the same as before"] : [];
  const verb = created ? "Created" : "Replaced";
  const summary = `${verb} ${shownPath(args.path)}: ${plural(lines, "line")}, ${plural(bytes, "byte")}`;
  return outcome("ok", [summary, ...same, ...otherNamesNote(otherNames)].join("; "), {
    path: real,
    bytes,
    lines,
    ...(diff && { added: diff.added, removed: diff.removed }),
    ...(diff && diff.text !== "" && { diff: diff.text }),
  });
}
