import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmdirSync,
  type Stats,
  statfsSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { systemCode } from "../../core/errors.ts";

/*
 * The only way to the tool host's own files. Commands run as the same user and may put a link, a FIFO or a folder in
 * place of each: so nothing here follows a link in the last place, waits, or reads what is no regular file.
 */

const CREATE = constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_WRONLY;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Makes sure that `root` and every folder from there to `path` is a real one of ours, closed to others; whatever else is
 * there is put out of the way.
 */
export function ensureFolder(root: string, path = root): void {
  mendFolder(root);
  let folder = root;
  for (const name of relative(root, path).split(sep)) {
    if (name === "") continue;
    folder = join(folder, name);
    mendFolder(folder);
  }
}

function mendFolder(path: string): void {
  if (isOurFolder(path)) return;
  const found = look(path);
  if (found?.isDirectory() && found.uid === process.getuid?.()) return chmodSync(path, 0o700);
  if (found) discard(path);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // The umask of the session may have taken bits away.
  chmodSync(path, 0o700);
}

/** Whether `path` is as {@link ensureFolder} leaves it. */
export function isOurFolder(path: string): boolean {
  const found = look(path);
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o777) === 0o700;
}

/** A descriptor of a new, empty file at `path`. */
export function createFile(path: string): number {
  try {
    return openSync(path, CREATE, 0o600);
  } catch (thrown) {
    if (systemCode(thrown) !== "EEXIST") throw thrown;
    discard(path);
    return openSync(path, CREATE, 0o600);
  }
}

/** Writes a new file at `path`. */
export function putFile(path: string, text: string, encoding: "utf8" | "latin1"): void {
  const bytes = Buffer.from(text, encoding);
  const fd = createFile(path);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  } finally {
    closeSync(fd);
  }
}

/** Moves a file of ours to `path`, whatever is there. */
export function moveFile(from: string, path: string): void {
  // A folder cannot be replaced by a file; everything else can.
  if (look(path)?.isDirectory()) discard(path);
  renameSync(from, path);
}

/** The bytes of a regular file of at most `maxBytes`; undefined for anything else. */
export function takeFile(path: string, maxBytes: number): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, READ);
    const found = fstatSync(fd);
    if (!found.isFile() || found.size > maxBytes) return undefined;
    const bytes = Buffer.allocUnsafe(found.size);
    let size = 0;
    while (size < bytes.length) {
      const read = readSync(fd, bytes, size, bytes.length - size, null);
      if (read === 0) break;
      size += read;
    }
    return bytes.subarray(0, size);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** At most `size` bytes of a regular file from `offset` on; none of anything else. */
export function readPart(path: string, offset: number, size: number): Buffer {
  let fd: number | undefined;
  try {
    fd = openSync(path, READ);
    if (!fstatSync(fd).isFile()) return Buffer.alloc(0);
    const bytes = Buffer.allocUnsafe(size);
    return bytes.subarray(0, readSync(fd, bytes, 0, size, offset));
  } catch {
    return Buffer.alloc(0);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

export function sizeOf(path: string): number {
  return look(path)?.size ?? 0;
}

/** Whether anything is there, a dangling link included. */
export function isThere(path: string): boolean {
  return look(path) !== undefined;
}

/** Whether nothing more can be written where `path` lies. */
export function isFull(path: string): boolean {
  try {
    const { bavail, ffree, files } = statfsSync(path);
    return bavail === 0 || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}

/**
 * Removes what is at `path`. A folder is only moved aside at once, since one that a command made can be endlessly deep
 * or full; it is emptied meanwhile, as far as that goes.
 */
export function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch (thrown) {
    if (systemCode(thrown) === "ENOENT") return;
    const aside = `${path}.${randomBytes(6).toString("hex")}`;
    renameSync(path, aside);
    rm(aside, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Removes a folder of which these files are known; the rest of it goes as {@link discard} says. */
export function removeFolder(path: string, names: readonly string[]): void {
  try {
    for (const name of names) {
      const file = `${path}/${name}`;
      if (isThere(file)) unlinkSync(file);
    }
    rmdirSync(path);
  } catch {
    tryTo(() => discard(path));
  }
}

/** For what is tried again, or made good, when it counts. */
export function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    // On a full disk, say; who needs the folder then is told.
  }
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // Behind a folder that is closed; who goes on is told by the next error.
    return undefined;
  }
}
