import { constants } from "node:fs";
import { type FileHandle, open, readlink } from "node:fs/promises";

/**
 * A file of a workspace as data; undefined for what is missing, no regular file, larger than `maxBytes`, or reached by a
 * link at the end or on the way. Never waits and runs nothing.
 */
export async function readData(path: string, maxBytes: number): Promise<Buffer | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const info = await file.stat();
    if (!info.isFile() || info.size > maxBytes || !(await liesWhereNamed(file, path))) return undefined;
    return await file.readFile();
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}

/** Whether what was opened lies where it was named, whatever was swapped on the way meanwhile. Linux can tell. */
export async function liesWhereNamed(file: FileHandle, path: string): Promise<boolean> {
  const real = await readlink(`/proc/self/fd/${file.fd}`).catch(() => path);
  return real === path;
}
