import type { Stats } from "node:fs";
import { lstat, opendir, readlink, stat } from "node:fs/promises";
import { systemCode } from "../../core/errors.ts";
import { byteLength } from "../../core/truncate.ts";
import { OUTPUT_LIMITS } from "../../tools/contract.ts";
import type { CallContext, Handler } from "../context.ts";
import { cancelled, shownOutcome, withNotices } from "../notices.ts";
import { outcome } from "../outcomes.ts";
import { ESCAPED_NAMES, shownName } from "./names.ts";
import { resolvePath } from "./paths.ts";
import { kindOf } from "./regular-file.ts";

const DEFAULT_LIMIT = 500;
const AT_ONCE = 32;

export const handleLs: Handler<"ls"> = async (args, context) => {
  const path = resolvePath(args.path ?? ".", context.host.hello);
  const limit = args.limit ?? DEFAULT_LIMIT;
  if (!(await isDirectory(path))) {
    const { line } = await describe(Buffer.from(path), Buffer.from(args.path ?? "."));
    return outcome("ok", line, { lines: 1 });
  }
  const { names, total } = await firstNames(path, limit, context);
  if (context.signal.aborted) return cancelled("the directory was not listed");
  if (total === 0) return outcome("ok", "[The directory is empty]", { lines: 0 });
  return report(await describeAll(path, names), total);
};

/** A link that leads nowhere is an entry like any other; throws for what is not there at all. */
async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    const link = await lstat(path).catch(() => undefined);
    if (link?.isSymbolicLink()) return false;
    throw error;
  }
}

/** The first names in the order of their bytes, and how many there are; memory is bounded by the limit. */
async function firstNames(
  path: string,
  limit: number,
  { signal }: CallContext,
): Promise<{ names: Buffer[]; total: number }> {
  let names: Buffer[] = [];
  let total = 0;
  const keepFirst = () => {
    names = names.sort(Buffer.compare).slice(0, limit);
  };
  // As bytes: a name that is not UTF-8 would come back as another name, that of no file.
  const folder = await opendir(path, { encoding: "buffer" as BufferEncoding, bufferSize: 256 });
  for await (const entry of folder) {
    if (signal.aborted) break;
    total++;
    names.push(entry.name as unknown as Buffer);
    if (names.length > 2 * limit + 1000) keepFirst();
  }
  keepFirst();
  return { names, total };
}

type Entry = { line: string; escaped: boolean; unknown?: true };

async function describeAll(path: string, names: readonly Buffer[]): Promise<Entry[]> {
  const folder = Buffer.from(path.endsWith("/") ? path : `${path}/`);
  const entries: Entry[] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE);
    entries.push(...(await Promise.all(some.map((name) => describe(Buffer.concat([folder, name]), name)))));
  }
  return entries;
}

/** Kind, size of a regular file, name: one line, tabs between, so that blanks in a name stay what they are. */
async function describe(path: Buffer, name: Buffer): Promise<Entry> {
  const text = shownName(name);
  const escaped = !Buffer.from(text).equals(name);
  const stats = await lstat(path).catch(systemCode);
  if (stats === "ENOENT") return { line: `gone\t-\t${text}`, escaped };
  if (typeof stats !== "object") return { line: `?\t-\t${text}`, escaped, unknown: true };
  if (stats.isSymbolicLink()) return { line: `link\t-\t${text} -> ${await linkTarget(path)}`, escaped };
  return { line: `${kindOf(stats)}\t${sizeOf(stats)}\t${text}${stats.isDirectory() ? "/" : ""}`, escaped };
}

function sizeOf(stats: Stats): string {
  return stats.isFile() ? String(stats.size) : "-";
}

async function linkTarget(path: Buffer): Promise<string> {
  const target = await readlink(path, { encoding: "buffer" }).catch(() => undefined);
  if (target === undefined) return "?";
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return `${shownName(target)} (broken)`;
  return stats.isDirectory() ? `${shownName(target)}/` : shownName(target);
}

function report(entries: readonly Entry[], total: number) {
  const lines: string[] = [];
  let bytes = 0;
  let escaped = false;
  let unknown = false;
  for (const entry of entries) {
    bytes += byteLength(entry.line) + 1;
    if (bytes > OUTPUT_LIMITS.maxBytes) break;
    lines.push(entry.line);
    escaped ||= entry.escaped;
    unknown ||= entry.unknown === true;
  }
  const cut = lines.length < total;
  const more = lines.length < entries.length ? "use find with a pattern" : "raise limit, or use find with a pattern";
  const notices = [
    ...(escaped ? [ESCAPED_NAMES] : []),
    ...(unknown ? ["Of entries marked ? kind and size cannot be read here"] : []),
    ...(cut ? [`First ${lines.length} of ${total} entries; ${more}`] : []),
  ];
  return shownOutcome("ok", withNotices(lines.join("\n"), notices), { lines: lines.length }, cut);
}
