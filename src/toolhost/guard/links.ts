import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { isWithin } from "../../core/path-rules.ts";

/** Files of a workspace that have names outside it: a write to one is a write to the other. */
export type OutsideLinks = { files: string[]; skipped: number; complete: boolean };

/** Names looked at before it is too much to wait for. */
const MAX_ENTRIES = 1_000_000;
/** How long a scan keeps the tool host from answering. */
const SLICE_MS = 5;
/** More mounts than this make a start slow. */
const MAX_FOLDERS = 32;

/** A file with several names: how many there are, and those that were seen. */
type Linked = { links: number; seen: string[] };

/**
 * The files below `root` with more links than names in it, workspace-relative. Looks at names only and follows no link;
 * what lies in `readonly` cannot be written and is left out. An incomplete scan takes a name it did not see for outside.
 */
export async function scanLinks(
  root: string,
  readonly: readonly string[],
  maxEntries = MAX_ENTRIES,
): Promise<OutsideLinks> {
  const closed = new Set(readonly);
  const linked = new Map<string, Linked>();
  const waiting = [""];
  let left = maxEntries;
  let skipped = 0;
  let sliceEnd = performance.now() + SLICE_MS;
  for (let folder = waiting.pop(); folder !== undefined && left > 0; folder = waiting.pop()) {
    for (const entry of entriesOf(root, folder)) {
      if (--left < 0) break;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (closed.has(path)) continue;
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile() && !take(linked, root, path)) skipped++;
      if (performance.now() < sliceEnd) continue;
      await setImmediate();
      sliceEnd = performance.now() + SLICE_MS;
    }
  }
  const files = [...linked.values()].flatMap(({ links, seen }) => (links > seen.length ? seen : []));
  return { files, skipped, complete: left > 0 };
}

/** None where the folder has gone or is closed to us, and so to every command. */
function entriesOf(root: string, folder: string): Dirent[] {
  try {
    return readdirSync(`${root}/${folder}`, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** False for a file that cannot be looked at, such as one whose name is not UTF-8. */
function take(linked: Map<string, Linked>, root: string, path: string): boolean {
  const stats = statOf(`${root}/${path}`);
  if (!stats) return false;
  if (stats.nlink < 2) return true;
  const key = `${stats.dev}:${stats.ino}`;
  const one = linked.get(key) ?? { links: stats.nlink, seen: [] };
  one.seen.push(path);
  linked.set(key, one);
  return true;
}

function statOf(path: string) {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/**
 * The folders that hold `files`, few and as deep as that allows; a file directly in the workspace stands for itself. Pure.
 */
export function foldersToProtect(files: readonly string[], most = MAX_FOLDERS): string[] {
  const depth = Math.max(0, ...files.map((file) => file.split("/").length - 1));
  let folders = files.length === 0 ? [] : ["."];
  for (let at = 1; at <= Math.max(1, depth); at++) {
    const next = new Set(files.map((file) => cutAt(file, at)));
    if (next.size > most) break;
    folders = [...next];
  }
  return folders.filter((path) => !folders.some((other) => other !== path && isWithin(path, other))).toSorted();
}

function cutAt(file: string, depth: number): string {
  const parts = file.split("/");
  return parts.length === 1 ? file : parts.slice(0, Math.min(depth, parts.length - 1)).join("/");
}
