import { realpath, stat } from "node:fs/promises";
import { basename, dirname, relative, resolve } from "node:path";
import type { Hello } from "../../protocol/messages.ts";
import { resolvePath } from "../files/paths.ts";
import { refuseSpecial } from "../files/regular-file.ts";

/** Where a search runs and how its paths are shown: as `read` takes them. */
export type SearchPlace = {
  cwd: string;
  target?: string;
  prefix: string;
  /** It is the workspace: rules of folders above it, `/tmp/.gitignore` say, are not about it. */
  isRoot: boolean;
};

/** Throws ENOENT for what is not there, and ToolFailure for what is neither a directory nor a regular file. */
export async function searchPlace(path: string | undefined, hello: Hello): Promise<SearchPlace> {
  const written = resolvePath(path ?? ".", hello);
  // `link/..` is where the link leads, which the names shown have to say.
  const absolute = written.includes("/..") ? await realpath(written) : written;
  const stats = await stat(absolute);
  if (stats.isDirectory()) {
    return { cwd: absolute, prefix: shownPrefix(absolute, hello), isRoot: resolve(absolute) === hello.root };
  }
  refuseSpecial(stats, path ?? ".");
  const cwd = dirname(absolute);
  return { cwd, target: basename(absolute), prefix: shownPrefix(cwd, hello), isRoot: false };
}

/** Relative to the workspace where it is inside, absolute elsewhere. */
function shownPrefix(folder: string, hello: Hello): string {
  const inside = relative(hello.root, folder);
  if (inside === "") return "";
  if (inside === ".." || inside.startsWith("../")) return folder.endsWith("/") ? folder : `${folder}/`;
  return `${inside}/`;
}

/** The bytes rg calls a file, without the `./` we gave it. */
export function withoutDot(name: Buffer): Buffer {
  return name[0] === 0x2e && name[1] === 0x2f ? name.subarray(2) : name;
}

/** A pattern may name files by their whole path, though it is matched below the directory searched. */
export function relativePattern(pattern: string, path: string | undefined, hello: Hello): string {
  const folder = resolvePath(path ?? ".", hello).replace(/\/(\.\/?)?$/, "");
  return pattern.startsWith(`${folder}/`) ? pattern.slice(folder.length) : pattern;
}
