import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../core/errors.ts";
import { PathMatcher } from "../core/path-rules.ts";

/** What is at a path: `link` also when a folder on the way is one. */
export type PathKind = "absent" | "link" | "file" | "folder" | "other";

/** Names looked at for patterns before it is too much to wait for: some ten times a large repository. */
const MAX_NAMES = 1_000_000;

/** What is at workspace-relative paths, looked at component by component without following a link. */
export async function lookAt(root: string, paths: readonly string[]): Promise<Map<string, PathKind>> {
  return new Map(await Promise.all(paths.map(async (path) => [path, await kindAt(root, path)] as const)));
}

async function kindAt(root: string, path: string): Promise<PathKind> {
  const parts = path === "." ? [] : path.split("/");
  let kind: PathKind = "folder";
  for (let length = 1; length <= parts.length; length++) {
    kind = await kindOf(join(root, ...parts.slice(0, length)));
    if (kind === "absent" || kind === "link") return kind;
  }
  return kind;
}

async function kindOf(path: string): Promise<PathKind> {
  try {
    return kindFrom(await lstat(path));
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return "absent";
    throw error;
  }
}

function kindFrom(entry: Pick<Dirent, "isSymbolicLink" | "isFile" | "isDirectory">): PathKind {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "folder" : "other";
}

/** A path that a pattern means. */
export type Match = { path: string; kind: PathKind };

/** A pattern that cannot be applied to a workspace; `message` says why, as the end of a sentence. */
export class UnfitPattern extends Error {
  readonly pattern: string;
  constructor(pattern: string, why: string) {
    super(why);
    this.pattern = pattern;
  }
}

/**
 * The paths that patterns mean, by pattern: the outermost each, since a folder stands for what is in it. Folders that
 * cannot hold a match are not read, and no link is followed. @throws UnfitPattern for more than `maxMatches` of one
 * pattern, and where a name is no text: what is there could not be named to an engine.
 */
export async function findMatches(
  root: string,
  patterns: readonly string[],
  maxMatches: number,
): Promise<Map<string, Match[]>> {
  const found = new Map<string, Match[]>(patterns.map((pattern) => [pattern, []]));
  let left = MAX_NAMES;
  const walk = async (folder: string, waiting: readonly Waiting[]): Promise<void> => {
    const entries = await readFolder(join(root, folder));
    left -= entries.length;
    if (left < 0) throw new UnfitPattern(waiting[0]?.pattern ?? "", `has more than ${MAX_NAMES} names to look at`);
    for (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const inside: Waiting[] = [];
      for (const { pattern, matcher } of waiting) {
        const next = matcher.enter(entry.name);
        if (next && entry.name.includes("\ufffd"))
          throw new UnfitPattern(pattern, `meets \`${path}\`, a name that is not valid UTF-8`);
        if (next?.isMatch) take(pattern, { path, kind: kindFrom(entry) });
        else if (next) inside.push({ pattern, matcher: next });
      }
      if (inside.length > 0 && entry.isDirectory()) await walk(path, inside);
    }
  };
  const take = (pattern: string, match: Match): void => {
    const matches = found.get(pattern) ?? [];
    if (matches.length === maxMatches) throw new UnfitPattern(pattern, `means more than ${maxMatches} paths`);
    matches.push(match);
  };
  await walk(
    "",
    patterns.map((pattern) => ({ pattern, matcher: PathMatcher.of(pattern) })),
  );
  return found;
}

type Waiting = { pattern: string; matcher: PathMatcher };

/** A folder that has gone meanwhile holds nothing. */
async function readFolder(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return [];
    throw error;
  }
}
