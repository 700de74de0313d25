import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import { type Entry, extract } from "tar-stream";
import { GloveboxError, messageOf } from "../core/errors.ts";

/** A name in an archive; `text` of a file that is short text, `target` of a symbolic link. */
export type ArchiveEntry = { name: string; type: string; size: number; mode: number; text?: string; target?: string };

/** How much of one file is shown. */
const MAX_TEXT_BYTES = 8 * 1024;
const MAX_ENTRIES = 200;

/** The first entries of an archive, and how many there are. @throws GloveboxError `SESSION_CORRUPT`. */
export async function readEntries(archive: Readable): Promise<{ entries: ArchiveEntry[]; total: number }> {
  const entries: ArchiveEntry[] = [];
  let total = 0;
  const unpack = extract();
  archive.on("error", (error) => unpack.destroy(error));
  archive.pipe(unpack as unknown as NodeJS.WritableStream);
  try {
    for await (const entry of unpack as AsyncIterable<Entry>) {
      total++;
      if (entries.length < MAX_ENTRIES) entries.push(await described(entry));
      else entry.resume();
    }
  } catch (error) {
    throw new GloveboxError("SESSION_CORRUPT", `The archive cannot be read: ${messageOf(error)}`, { cause: error });
  }
  return { entries, total };
}

async function described(entry: Entry): Promise<ArchiveEntry> {
  const { name, type, size = 0, mode = 0, linkname } = entry.header;
  const about = { name, type: type ?? "file", size, mode };
  const bytes = await contentOf(entry, size <= MAX_TEXT_BYTES);
  if (linkname) return { ...about, target: linkname };
  if (about.type !== "file" || size > MAX_TEXT_BYTES || bytes.includes(0) || !isUtf8(bytes)) return about;
  return { ...about, text: bytes.toString("utf8") };
}

async function contentOf(entry: Entry, isShort: boolean): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of entry as AsyncIterable<Buffer>) if (isShort) chunks.push(chunk);
  return Buffer.concat(chunks);
}
