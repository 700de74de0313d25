import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";

/** All below a path that a change would show in, as a line each: kind, mode, owner, content. No link is followed. */
export async function digestOf(path: string): Promise<string[]> {
  const info = await lstat(path);
  const facts = `${path} ${info.mode.toString(8)} ${info.uid}:${info.gid}`;
  if (info.isSymbolicLink()) return [`${facts} -> ${await readlink(path)}`];
  if (info.isFile()) return [`${facts} ${await hashOf(path)}`];
  if (!info.isDirectory()) return [facts];
  const names = (await readdir(path)).toSorted();
  const inner = await Promise.all(names.map((name) => digestOf(join(path, name))));
  return [facts, ...inner.flat()];
}

async function hashOf(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return createHash("sha256")
      .update(await file.readFile())
      .digest("hex");
  } finally {
    await file.close();
  }
}
