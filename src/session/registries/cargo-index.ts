import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

const MOST_BYTES = 64 * 1024;

const Config = z.object({ dl: z.string() });

type Download = { url: string; file: string };

/** Where the indexes that cargo has looked at before, among those at `urls`, say that packages are, and in which file. */
export async function downloadUrls(folder: string, urls: readonly string[]): Promise<Download[]> {
  const hosts = urls.map((url) => new URL(url).hostname);
  const names = await readdir(folder).catch(() => []);
  const known = names.filter((name) => hosts.some((host) => name.startsWith(`${host}-`)));
  const found = await Promise.all(known.map((name) => downloadUrl(join(folder, name, "config.json"))));
  return found.filter((download) => download !== undefined);
}

async function downloadUrl(file: string): Promise<Download | undefined> {
  try {
    return { url: Config.parse(JSON.parse(await readStart(file))).dl, file };
  } catch {
    // Of another format, or half written: not known, as if it were not there.
    return undefined;
  }
}

async function readStart(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
