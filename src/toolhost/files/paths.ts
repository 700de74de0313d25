import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { systemCode } from "../../core/errors.ts";
import { byteLength, clip, isWellFormed } from "../../core/truncate.ts";
import { visibleLine } from "../../core/visible.ts";
import type { Hello } from "../../protocol/messages.ts";
import { ToolFailure } from "../outcomes.ts";

/** Linux: PATH_MAX with the final NUL. */
const MAX_PATH_BYTES = 4095;
const MAX_LINKS = 40;

/**
 * A path as the model wrote it, as an absolute one: relative to the workspace root, `~` is the home. Not normalised,
 * because `link/..` is the parent of the link's target. Throws ToolFailure for what no file system call can take.
 */
export function resolvePath(path: string, hello: Hello): string {
  if (path === "") throw new ToolFailure("The path is empty; name a file or directory, `.` is the workspace");
  if (path.includes("\0")) throw new ToolFailure(`\`${shownPath(path)}\`: a path cannot hold a NUL character`);
  if (!isWellFormed(path)) throw new ToolFailure(`\`${shownPath(path)}\`: the path holds half of a surrogate pair`);
  if (byteLength(path) > MAX_PATH_BYTES) {
    throw new ToolFailure(`The path has ${byteLength(path)} bytes; at most ${MAX_PATH_BYTES} are possible`);
  }
  if (path === "~") return hello.home;
  if (path.startsWith("~/")) return `${hello.home}/${path.slice(2)}`;
  return isAbsolute(path) ? path : `${hello.root}/${path}`;
}

/** A path for one line of text to the model. */
export function shownPath(path: string): string {
  return visibleLine(clip(path, 400));
}

/**
 * Where a write to `path` ends up once every link is followed, also when nothing is there yet. Throws ELOOP as a
 * system error does, for links that never end.
 */
export async function realTarget(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT" || links >= MAX_LINKS) throw error;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  if (await isLink(path)) {
    const target = await readlink(path);
    return realTarget(isAbsolute(target) ? target : `${parent}/${target}`, links + 1);
  }
  return join(await realTarget(parent, links), basename(path));
}

async function isLink(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isSymbolicLink() ?? false;
}
