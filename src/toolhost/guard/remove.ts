import { randomBytes } from "node:crypto";
import { chmodSync, type Dirent, readdirSync, renameSync, rmdirSync, type Stats, unlinkSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { statOf } from "./listing.ts";

/** Longer than a removal of any tree takes that nobody refills. */
const PATIENCE_MS = 60_000;
const SLICE_MS = 5;

/**
 * Removes what is at `path`, following no link, however deep and closed it is: the folders in a folder are moved up, so
 * that no path grows beyond three names. Names need not be UTF-8. @throws system errors, or that something refills it.
 */
export async function removeItem(path: string): Promise<void> {
  const stats = statOf(path);
  if (!stats) return;
  if (!stats.isDirectory()) return unlinkSync(path);
  const top = Buffer.from(path);
  const giveUpAt = performance.now() + PATIENCE_MS;
  makeOpen(top, stats);
  for (let entries = entriesOf(top); entries.length > 0; entries = entriesOf(top)) {
    for await (const entry of inSlices(entries)) {
      if (entry.isDirectory()) await emptyInto(join(top, entry.name), top);
      else unlinkSync(join(top, entry.name));
      if (performance.now() > giveUpAt) throw new Error("something keeps filling it");
    }
  }
  rmdirSync(top);
}

/** Moves the folders of `folder` to `top` and removes the rest with it. */
async function emptyInto(folder: Buffer, top: Buffer): Promise<void> {
  makeOpen(folder, statOf(folder));
  for await (const entry of inSlices(entriesOf(folder))) {
    const inner = join(folder, entry.name);
    if (!entry.isDirectory()) {
      unlinkSync(inner);
      continue;
    }
    // A folder that moves is written to: its `..` changes.
    makeOpen(inner, statOf(inner));
    renameSync(inner, join(top, Buffer.from(randomBytes(12).toString("hex"))));
  }
  rmdirSync(folder);
}

function makeOpen(folder: Buffer, stats: Stats | undefined): void {
  if (stats && (stats.mode & 0o700) !== 0o700) chmodSync(folder, 0o700);
}

function entriesOf(folder: Buffer): Dirent<Buffer>[] {
  return readdirSync(folder, { withFileTypes: true, encoding: "buffer" }) as unknown as Dirent<Buffer>[];
}

function join(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), name]);
}

/** The same items, letting others have their turn every few milliseconds. */
async function* inSlices<T>(items: readonly T[]): AsyncGenerator<T> {
  let sliceEnd = performance.now() + SLICE_MS;
  for (const item of items) {
    yield item;
    if (performance.now() < sliceEnd) continue;
    await setImmediate();
    sliceEnd = performance.now() + SLICE_MS;
  }
}
