import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../core/errors.ts";

/** What is at a path: `link` also when a folder on the way is one, `there` a file or a folder. */
export type PathKind = "absent" | "link" | "there" | "other";

/** What is at workspace-relative paths, looked at component by component without following a link. */
export async function lookAt(root: string, paths: readonly string[]): Promise<Map<string, PathKind>> {
  return new Map(await Promise.all(paths.map(async (path) => [path, await kindAt(root, path)] as const)));
}

async function kindAt(root: string, path: string): Promise<PathKind> {
  const parts = path === "." ? [] : path.split("/");
  let kind: PathKind = "there";
  for (let length = 1; length <= parts.length; length++) {
    kind = await kindOf(join(root, ...parts.slice(0, length)));
    if (kind === "absent" || kind === "link") return kind;
  }
  return kind;
}

async function kindOf(path: string): Promise<PathKind> {
  try {
    const info = await lstat(path);
    if (info.isSymbolicLink()) return "link";
    return info.isFile() || info.isDirectory() ? "there" : "other";
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return "absent";
    throw error;
  }
}
