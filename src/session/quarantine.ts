import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { GloveboxError, messageOf } from "../core/errors.ts";
import { shortId } from "../core/ids.ts";
import type { Quarantined, QuarantineItem } from "../core/quarantine.ts";
import { namesIn } from "./names-in.ts";

/** 4 GiB of files and what an archive adds to that. */
const MAX_ARCHIVE_BYTES = 5 * 1024 ** 3;

/** Something kept, and where its archive is. */
export type KeptItem = Quarantined & { file: string };

/** Where a session keeps what was moved out of its workspace: beside its log. */
export function quarantineFolder(sessionFile: string): string {
  return sessionFile.replace(/\.jsonl$/, ".quarantine");
}

/**
 * Stores an archive under its hash (0600, in a folder of 0700), with what it is beside it, both synced.
 * @throws GloveboxError `SESSION_WRITE_FAILED`.
 */
export async function storeArchive(folder: string, item: QuarantineItem, archive: Readable): Promise<Quarantined> {
  const part = join(folder, `${shortId()}.part`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const written = await writeHashed(part, archive);
    const kept: Quarantined = { ...item, ...written };
    await rename(part, join(folder, `${kept.sha256}.tar`));
    await writeSynced(part, [Buffer.from(`${JSON.stringify(kept)}\n`)]);
    await rename(part, join(folder, `${kept.sha256}.json`));
    return kept;
  } catch (error) {
    await rm(part, { force: true });
    throw new GloveboxError("SESSION_WRITE_FAILED", `\`${item.path}\` could not be kept: ${messageOf(error)}`, {
      hint: "Free space or fix the permissions of that folder",
      cause: error,
    });
  }
}

/** What a session has kept, by path. @throws GloveboxError `SESSION_CORRUPT`. */
export async function listKept(folder: string): Promise<KeptItem[]> {
  const { parseKept } = await import("./quarantine-schema.ts");
  const names = (await namesIn(folder)).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
  const kept = await Promise.all(
    names.map(async (name) => {
      const facts = parseKept(join(folder, name), await readFile(join(folder, name), "utf8"));
      return { ...facts, file: join(folder, name.replace(/json$/, "tar")) };
    }),
  );
  return kept.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.kind < b.kind ? 1 : -1));
}

/** The archive, once it is proved to be the one that was stored. @throws GloveboxError `SESSION_CORRUPT`. */
export async function openArchive({ file, sha256 }: KeptItem): Promise<Readable> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  } catch (error) {
    throw corrupt(file, `cannot be read: ${messageOf(error)}`);
  }
  if (hash.digest("hex") !== sha256) throw corrupt(file, "is not what was stored");
  return createReadStream(file);
}

/** Removes what was being stored when its writer died; for when nobody else writes there. */
export async function removeParts(folder: string): Promise<void> {
  const parts = (await namesIn(folder)).filter((name) => name.endsWith(".part"));
  await Promise.all(parts.map((name) => rm(join(folder, name), { force: true })));
}

async function writeHashed(file: string, archive: Readable): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash("sha256");
  let bytes = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of archive as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_ARCHIVE_BYTES) throw new Error(`its archive is larger than ${MAX_ARCHIVE_BYTES} bytes`);
      hash.update(chunk);
      yield chunk;
    }
  }
  await writeSynced(file, counted());
  return { sha256: hash.digest("hex"), bytes };
}

async function writeSynced(file: string, chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    for await (const chunk of chunks) await handle.writeFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function corrupt(file: string, why: string): GloveboxError {
  return new GloveboxError("SESSION_CORRUPT", `Archive \`${file}\` ${why}`, {
    hint: "The file was changed or damaged after it was written; it has been left as it is",
  });
}
