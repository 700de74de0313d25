import { isUtf8 } from "node:buffer";
import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../core/errors.ts";
import { PathMatcher } from "../core/path-rules.ts";
import { clip } from "../core/truncate.ts";

/** What is at a path: `link` also when a folder on the way is one, `closed` when one on the way cannot be looked into. */
export type PathKind = "absent" | "link" | "file" | "folder" | "other" | "closed";

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
    if (kind !== "folder" && kind !== "file" && kind !== "other") return kind;
  }
  return kind;
}

async function kindOf(path: string): Promise<PathKind> {
  try {
    return kindFrom(await lstat(path));
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return "absent";
    if (systemCode(error) === "EACCES") return "closed";
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

/** Where a pattern could not be applied, and why, as the end of a sentence. */
export type Misfit = { pattern: string; why: string };

export type Matches = {
  /** By pattern; the outermost each, since a folder stands for what is in it. */
  matches: ReadonlyMap<string, readonly Match[]>;
  /** What could not be looked at, each kind of it once a pattern; all else was. */
  misfits: readonly Misfit[];
};

/**
 * The paths that patterns mean, at most `maxMatches` each. Folders that cannot hold a match are not read, and no link is
 * followed. Names need not be UTF-8, but a match must be: an engine could not be told another.
 */
export async function findMatches(root: string, patterns: readonly string[], maxMatches: number): Promise<Matches> {
  const search = new Search(maxMatches);
  const waiting = patterns.map((pattern) => ({ pattern, matcher: PathMatcher.of(pattern) }));
  await search.walk({ at: Buffer.from(root), path: "", isText: true }, waiting);
  return search.found(patterns);
}

type Waiting = { pattern: string; matcher: PathMatcher };
/** A folder by its bytes, and as text relative to the workspace as far as it is text. */
type Folder = { at: Buffer; path: string; isText: boolean };

class Search {
  readonly #maxMatches: number;
  readonly #matches = new Map<string, Match[]>();
  readonly #misfits = new Map<string, Misfit>();
  #left = MAX_NAMES;

  constructor(maxMatches: number) {
    this.#maxMatches = maxMatches;
  }

  found(patterns: readonly string[]): Matches {
    const matches = new Map(patterns.map((pattern) => [pattern, this.#matches.get(pattern) ?? []]));
    return { matches, misfits: [...this.#misfits.values()] };
  }

  async walk(folder: Folder, waiting: readonly Waiting[]): Promise<void> {
    const entries = await this.#read(folder, waiting);
    this.#left -= entries.length;
    for (const entry of entries) {
      if (this.#left < 0) return this.#miss(waiting, `has more than ${MAX_NAMES} names to look at`);
      const name = entry.name.toString("utf8");
      const inner: Folder = {
        at: Buffer.concat([folder.at, SLASH, entry.name]),
        path: folder.path === "" ? name : `${folder.path}/${name}`,
        isText: folder.isText && isUtf8(entry.name),
      };
      const inside = this.#meet(inner, kindFrom(entry), { name, waiting });
      if (inside.length > 0 && entry.isDirectory()) await this.walk(inner, inside);
    }
  }

  /** Takes what matches; gives who may find something in it. */
  #meet(entry: Folder, kind: PathKind, { name, waiting }: { name: string; waiting: readonly Waiting[] }): Waiting[] {
    return waiting.flatMap(({ pattern, matcher }) => {
      const next = matcher.enter(name);
      if (next?.isMatch) this.#take(pattern, entry, kind);
      return next && !next.isMatch ? [{ pattern, matcher: next }] : [];
    });
  }

  #take(pattern: string, { path, isText }: Folder, kind: PathKind): void {
    const taken = this.#matches.get(pattern) ?? [];
    if (!isText) return this.#miss([{ pattern }], `meets \`${clip(path, 200)}\`, a name that is not valid UTF-8`);
    if (taken.length === this.#maxMatches)
      return this.#miss([{ pattern }], `means more than ${this.#maxMatches} paths`);
    this.#matches.set(pattern, [...taken, { path, kind }]);
  }

  #miss(waiting: readonly Pick<Waiting, "pattern">[], why: string): void {
    for (const { pattern } of waiting) {
      const key = `${pattern} ${why.split(" ")[0]}`;
      if (!this.#misfits.has(key)) this.#misfits.set(key, { pattern, why });
    }
  }

  /** A folder that has gone meanwhile holds nothing. */
  async #read({ at, path }: Folder, waiting: readonly Waiting[]): Promise<Dirent<Buffer>[]> {
    try {
      return (await readdir(at, { withFileTypes: true, encoding: "buffer" })) as unknown as Dirent<Buffer>[];
    } catch (error) {
      const code = systemCode(error);
      if (code !== "ENOENT" && code !== "ENOTDIR")
        this.#miss(waiting, `cannot be looked for in \`${clip(path || ".", 200)}\` (${code})`);
      return [];
    }
  }
}

const SLASH = Buffer.from("/");
