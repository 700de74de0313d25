import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { join, relative } from "node:path";

const MAX_BYTES = 4 * 1024 * 1024;

/** Path → hash of every file below `folder`. Nothing is followed or waited for: the files are a stranger's. */
export async function hashTree(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const items = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  const hashes = await Promise.all(items.map(async (path) => [relative(folder, path), await hashOf(path)]));
  return Object.fromEntries(hashes.sort());
}

/** The paths that were added, removed or changed. */
export function changesOf(before, after) {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]).sort();
}

export async function isThere(path) {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** The text of a regular file; undefined for anything else. */
export async function readRegular(path) {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (!file) return undefined;
  try {
    const info = await file.stat();
    if (!info.isFile() || info.size > MAX_BYTES) return undefined;
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

async function hashOf(path) {
  const info = await lstat(path);
  if (info.isSymbolicLink()) return `link to ${await readlink(path)}`;
  const text = await readRegular(path);
  return text === undefined ? "special" : createHash("sha256").update(text).digest("hex");
}
