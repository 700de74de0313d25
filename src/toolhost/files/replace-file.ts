import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, mkdir, open, readFile, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "../../core/errors.ts";
import { ToolFailure } from "../outcomes.ts";
import { shownPath } from "./paths.ts";
import { MAX_EDIT_BYTES } from "./seen.ts";

/** The directory cannot take a second file, or this name cannot be replaced (a mount, a sticky directory). */
const IN_PLACE_CODES = new Set(["EACCES", "EPERM", "EROFS", "EBUSY", "EXDEV"]);

/** `shown`: the path as the model wrote it. `old` is undefined for a new file. */
type Replacement = { real: string; shown: string; bytes: Uint8Array; old: Stats | undefined };

/**
 * Makes `bytes` the content of the regular file at `real`, a path without links in it, or creates it by the umask. Other
 * readers see the old or the new file; mode and owner stay. In place where the directory does not allow that. Leaves no
 * temporary file behind, whatever fails; throws system errors. Gives how many other names of the file keep the old
 * content: a package manager's store behind a hard link is not what an edit is meant for.
 */
export async function replaceFile({ real, shown, bytes, old }: Replacement): Promise<number> {
  if (old !== undefined) await refuseUnwritable(real, shown, old);
  const replaced = await renameOver(real, bytes, old);
  if (old === undefined) return 0;
  if (replaced) return old.nlink - 1;
  await overwrite(real, bytes, old);
  return 0;
}

/** A rename needs no permission on the file itself: without this, a read-only file would be replaced all the same. */
async function refuseUnwritable(real: string, shown: string, { mode, uid }: Stats): Promise<void> {
  try {
    await (await open(real, constants.O_WRONLY)).close();
  } catch (error) {
    const isByMode = systemCode(error) === "EACCES" && (mode & 0o222) === 0 && uid === process.geteuid?.();
    if (!isByMode) throw error;
    throw new ToolFailure(
      `\`${shownPath(shown)}\`: its mode (0${(mode & 0o777).toString(8).padStart(3, "0")}) forbids writing; nothing was changed. If the change is meant, run chmod u+w on it in bash first`,
    );
  }
}

/** For the summary of a change; empty where the file has no other name. */
export function otherNamesNote(count: number): string[] {
  if (count < 1) return [];
  const names = count === 1 ? "its other name (a hard link) keeps" : `its ${count} other names (hard links) keep`;
  return [`${names} the old content`];
}

/** Makes the directory of `real`; throws ToolFailure when a part of the path is something else. */
export async function makeParents(real: string): Promise<void> {
  const parent = dirname(real);
  try {
    await makeFolder(parent);
  } catch (error) {
    const code = systemCode(error);
    if (code !== "EEXIST" && code !== "ENOTDIR") throw error;
    throw new ToolFailure(`\`${shownPath(parent)}\`: a part of this path is a file, not a directory`);
  }
}

/** Node's own `recursive` tries for ever where the kernel denies that a folder exists which does, as below /proc. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (systemCode(error) === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (systemCode(error) !== "ENOENT" || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path).catch(ignoreExisting);
  }
}

/** Another call may have made it meanwhile. */
function ignoreExisting(error: unknown): void {
  if (systemCode(error) !== "EEXIST") throw error;
}

/** False when an existing file has to be written in place. */
async function renameOver(real: string, bytes: Uint8Array, old: Stats | undefined): Promise<boolean> {
  // Not built from the file's own name, which may already be as long as a name can be.
  const temporary = join(dirname(real), `.glovebox-${randomBytes(8).toString("hex")}.tmp`);
  try {
    const complete = await fill(temporary, bytes, old);
    if (complete) await rename(temporary, real);
    else await unlink(temporary);
    return complete;
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    if (old === undefined || !IN_PLACE_CODES.has(systemCode(error) ?? "")) throw error;
    return false;
  }
}

/** False when the new file cannot be given the owner of the old one. */
async function fill(temporary: string, bytes: Uint8Array, old: Stats | undefined): Promise<boolean> {
  // What replaces a private file is never readable by others, not even for a moment.
  const handle = await open(temporary, "wx", old === undefined ? 0o666 : 0o600);
  try {
    await handle.writeFile(bytes);
    return old === undefined || (await keepOwnerAndMode(handle, old));
  } finally {
    await handle.close();
  }
}

async function keepOwnerAndMode(handle: FileHandle, old: Stats): Promise<boolean> {
  const own = await handle.stat();
  if (own.uid !== old.uid || own.gid !== old.gid) {
    try {
      await handle.chown(old.uid, old.gid);
    } catch {
      return false;
    }
  }
  await handle.chmod(old.mode & 0o7777);
  return true;
}

/** What is longer first, over the old bytes then: a full disk is met before anything is lost. */
async function overwrite(real: string, bytes: Uint8Array, old: Stats): Promise<void> {
  const before = old.size <= MAX_EDIT_BYTES ? await readFile(real).catch(() => undefined) : undefined;
  const handle = await open(real, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    await writeRange(handle, bytes, old.size, bytes.length);
    await writeRange(handle, bytes, 0, Math.min(old.size, bytes.length));
    await handle.truncate(bytes.length);
  } catch (error) {
    if (before !== undefined) await writeRange(handle, before, 0, before.length).catch(() => undefined);
    await handle.truncate(old.size).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
}

async function writeRange(handle: FileHandle, bytes: Uint8Array, from: number, to: number): Promise<void> {
  for (let at = from; at < to; ) {
    const { bytesWritten } = await handle.write(bytes, at, to - at, at);
    at += bytesWritten;
  }
}

/** What is at `real`, or undefined where nothing is. */
export async function statIfThere(real: string): Promise<Stats | undefined> {
  try {
    return await stat(real);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
