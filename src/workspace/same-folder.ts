import { lstat } from "node:fs/promises";
import { systemCode } from "../core/errors.ts";

/**
 * Which folder is at a path. `born`, in nanoseconds: a folder that was made after another one was removed often has its
 * `ino`. Left out where a mount keeps the folder: its `ino` is its own then, while overlayfs gives it a new `born` with
 * the first write.
 */
export type FolderIdentity = { dev: string; ino: string; born?: string };

/** Looks without following a link. */
export async function identityOf(path: string): Promise<Required<FolderIdentity>> {
  const { dev, ino, birthtimeNs } = await lstat(path, { bigint: true });
  return { dev: String(dev), ino: String(ino), born: String(birthtimeNs) };
}

/** Whether the folder that was at a path is still there, or another one, or none. */
export async function folderState(path: string, before: FolderIdentity): Promise<"same" | "another" | "gone"> {
  try {
    const { dev, ino, born } = await identityOf(path);
    const isSame = dev === before.dev && ino === before.ino && born === (before.born ?? born);
    return isSame ? "same" : "another";
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return "gone";
    throw error;
  }
}
