import { constants, lstatSync, mkdirSync, symlinkSync } from "node:fs";
import { chmod, open } from "node:fs/promises";
import { dirname, posix } from "node:path";
import type { Readable } from "node:stream";
import type { Entry, Headers } from "tar-stream";
import { isWithin } from "../../core/path-rules.ts";
import { statOf } from "./listing.ts";
import { removeItem } from "./remove.ts";

/**
 * Unpacks an archive at `path` below `root`, where nothing may be yet: files, folders, and symbolic links that stay
 * inside `path`. Folders on the way are made, and none of them may be a link. @throws Error that says why not.
 */
export async function restore(root: string, path: string, archive: Readable): Promise<void> {
  requirePlain(path);
  makeWay(root, path);
  if (statOf(`${root}/${path}`)) throw new Error(`\`${path}\` exists; move it away first`);
  try {
    await unpackAll(root, path, archive);
  } catch (error) {
    await removeItem(`${root}/${path}`);
    throw error;
  }
}

async function unpackAll(root: string, path: string, archive: Readable): Promise<void> {
  const { default: tar } = await import("tar-stream");
  const unpack = tar.extract();
  archive
    .on("error", (error) => unpack.destroy(error))
    .on("data", (chunk: Buffer) => {
      if (!unpack.write(chunk)) archive.pause();
    });
  unpack.on("drain", () => archive.resume());
  archive.on("end", () => unpack.end());
  const modes: { file: string; mode: number }[] = [];
  const links: string[] = [];
  for await (const entry of unpack as AsyncIterable<Entry>) {
    const name = plainName(entry.header);
    if (links.some((link) => isWithin(name, link))) throw new Error(`The archive holds \`${name}\`, behind a link`);
    const mode = await restoreEntry(root, path, entry);
    if (entry.header.type === "symlink") links.push(name);
    if (mode !== undefined) modes.push({ file: `${root}/${name}`, mode });
  }
  // Folders last and the innermost first: a closed one could not be filled.
  for (const { file, mode } of modes.toReversed()) await chmod(file, mode);
}

/** The mode to be set at the end, for a folder. */
async function restoreEntry(root: string, path: string, entry: Entry): Promise<number | undefined> {
  const { header } = entry;
  const name = plainName(header);
  if (!isWithin(name, path)) throw new Error(`The archive holds \`${name}\`, which is not in \`${path}\``);
  const mode = (header.mode ?? 0o644) & 0o777;
  switch (header.type) {
    case "directory":
      entry.resume();
      mkdirSync(`${root}/${name}`);
      return mode;
    case "symlink":
      entry.resume();
      requireInside(header, path);
      symlinkSync(header.linkname ?? "", `${root}/${name}`);
      return undefined;
    case "file":
    case "contiguous-file":
      await writeFile(`${root}/${name}`, mode, entry);
      return undefined;
    default:
      throw new Error(`The archive holds \`${name}\`, which is neither file, folder nor symbolic link`);
  }
}

async function writeFile(file: string, mode: number, entry: Entry): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(file, flags, 0o600);
  try {
    for await (const chunk of entry as AsyncIterable<Buffer>) await handle.write(chunk);
    await handle.chmod(mode);
  } finally {
    await handle.close();
  }
}

function plainName({ name }: Headers): string {
  const plain = name.replace(/\/+$/, "");
  requirePlain(plain);
  return plain;
}

function requirePlain(path: string): void {
  const parts = path.split("/");
  if (parts.every((part) => part !== "" && part !== "." && part !== "..") && !path.includes("\0")) return;
  throw new Error(`\`${path}\` is no path below the workspace`);
}

function requireInside({ name, linkname }: Headers, path: string): void {
  if (!linkname) throw new Error(`\`${name}\` is a symbolic link to nothing`);
  const target = posix.join(dirname(name), linkname);
  if (!linkname.startsWith("/") && isWithin(target, path)) return;
  throw new Error(`\`${name}\` is a symbolic link to \`${linkname}\`, which is outside of what is brought back`);
}

function makeWay(root: string, path: string): void {
  const parts = path.split("/").slice(0, -1);
  for (const [index] of parts.entries()) {
    const folder = `${root}/${parts.slice(0, index + 1).join("/")}`;
    if (!statOf(folder)) mkdirSync(folder);
    else if (!lstatSync(folder).isDirectory()) throw new Error(`\`${folder}\` is a link or a file, not a folder`);
  }
}
