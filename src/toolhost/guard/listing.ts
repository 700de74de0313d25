import { isUtf8 } from "node:buffer";
import { accessSync, chmodSync, constants, lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs";
import { systemCode } from "../../core/errors.ts";
import { clip } from "../../core/truncate.ts";
import { visibleLine } from "../../core/visible.ts";
import { shownSize } from "../notices.ts";

/** One file, folder or symbolic link to be packed; `path` is workspace-relative. */
export type ListedEntry = { path: string; mode: number; mtime: Date } & (
  | { type: "file"; size: number }
  | { type: "directory" }
  | { type: "symlink"; target: string }
);
/** What is at a path, as it will be packed. `cut` says in words what is left out; `isWhole` when no file is. */
export type Listing = { entries: ListedEntry[]; cut: string[]; isWhole: boolean };

export type ListingLimits = { bytes: number; fileBytes: number; entries: number };

/** What is kept of one path. */
export const KEPT: ListingLimits = { bytes: 256 * 1024 * 1024, fileBytes: 256 * 1024 * 1024, entries: 100_000 };
/** The same at the end of a session, or after it died, when a person may have made it. */
export const KEPT_WHOLE: ListingLimits = { bytes: 4 * 1024 ** 3, fileBytes: 4 * 1024 ** 3, entries: 1_000_000 };
/** Above this a name may be too long for a system call once it stands in a path. */
const MAX_PATH_BYTES = 3_000;
const MAX_CUT_WORDS = 12;

/**
 * Lists what is at `path`, following no link. `open` makes folders readable that are closed, for what is to be removed.
 */
export function listItem(root: string, path: string, limits: ListingLimits, open: boolean): Listing {
  const entries: ListedEntry[] = [];
  const cuts = new Cuts();
  const waiting = [path];
  let bytes = 0;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const stats = lookAt(`${root}/${at}`, cuts);
    if (!stats) continue;
    if (entries.length === limits.entries) {
      cuts.add(`all but ${limits.entries} entries`);
      break;
    }
    const about = { path: at, mode: stats.mode & 0o777, mtime: stats.mtime };
    if (stats.isSymbolicLink()) entries.push({ ...about, type: "symlink", target: readlinkSync(`${root}/${at}`) });
    else if (stats.isFile()) {
      if (stats.size > Math.min(limits.fileBytes, limits.bytes - bytes)) {
        cuts.add(`\`${visibleLine(at)}\` (${shownSize(stats.size)})`);
        continue;
      }
      if (!isReadable(`${root}/${at}`, stats, open)) {
        cuts.add(`\`${visibleLine(at)}\`, which cannot be read`);
        continue;
      }
      bytes += stats.size;
      entries.push({ ...about, type: "file", size: stats.size });
    } else if (stats.isDirectory()) {
      entries.push({ ...about, type: "directory" });
      for (const name of namesIn(`${root}/${at}`, stats, open, cuts)) {
        const inner = `${at}/${name}`;
        if (Buffer.byteLength(`${root}/${inner}`) > MAX_PATH_BYTES)
          cuts.add(`what lies too deep below \`${visibleLine(path)}\``);
        else waiting.push(inner);
      }
    } else cuts.addNoFile(`\`${visibleLine(at)}\`, which is no file`);
  }
  return { entries, cut: cuts.words, isWhole: cuts.isWhole };
}

/** Each thing left out once, and no more of them than one can read. */
class Cuts {
  readonly #words = new Set<string>();
  #more = 0;

  isWhole = true;

  add(words: string): void {
    this.isWhole = false;
    this.addNoFile(words);
  }

  /** A FIFO or a socket holds nothing that could be lost. */
  addNoFile(words: string): void {
    const shown = clip(words, 900);
    if (this.#words.size < MAX_CUT_WORDS) this.#words.add(shown);
    else if (!this.#words.has(shown)) this.#more++;
  }

  get words(): string[] {
    return [...this.#words, ...(this.#more > 0 ? [`${this.#more} more`] : [])];
  }
}

function isReadable(file: string, { mode }: Stats, open: boolean): boolean {
  try {
    if (open && (mode & 0o400) === 0) chmodSync(file, mode | 0o400);
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function namesIn(folder: string, { mode }: Stats, open: boolean, cuts: Cuts): string[] {
  try {
    if (open && (mode & 0o700) !== 0o700) chmodSync(folder, mode | 0o700);
    const names = readdirSync(folder, { encoding: "buffer" });
    const fit = names.filter((name) => isUtf8(name));
    if (fit.length < names.length) cuts.add("what has a name that is not UTF-8");
    return fit.map(String);
  } catch {
    cuts.add(`what is in \`${visibleLine(folder)}\`, which cannot be read`);
    return [];
  }
}

function lookAt(path: string, cuts: Cuts): Stats | undefined {
  try {
    return statOf(path);
  } catch {
    cuts.add(`\`${visibleLine(path)}\`, which cannot be looked at`);
    return undefined;
  }
}

/** Undefined where nothing is. @throws system errors where that cannot be known. */
export function statOf(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}
