import { chmodSync } from "node:fs";
import { messageOf } from "../../core/errors.ts";
import type { Appeared, QuarantineItem } from "../../core/quarantine.ts";
import type { Keeper } from "./keeper.ts";
import { KEPT, KEPT_WHOLE, listItem, statOf } from "./listing.ts";
import { packListing } from "./pack.ts";
import { removeItem } from "./remove.ts";

/** What became of something that appeared; `problem`: it is still there. */
export type Moved = { item: QuarantineItem; problem?: string };

/** Of something too large: `cut` moves it out and loses what is too much, `leave` leaves it where it is, and says so. */
export type TooLarge = "cut" | "leave";

/**
 * Hands what is at each path over to the controller and removes it then; a path where nothing is is left out. Whoever
 * calls stops the processes that could change it meanwhile.
 */
export async function moveOut(
  root: string,
  paths: readonly Appeared[],
  { keeper, tooLarge }: { keeper: Keeper; tooLarge: TooLarge },
): Promise<Moved[]> {
  const moved: Moved[] = [];
  for (const appeared of paths) {
    if (!mayBeThere(root, appeared.path)) continue;
    const close = openWay(root, appeared.path);
    try {
      const place = placeOf(root, appeared.path);
      if (place === undefined || moved.some(({ item }) => item.path === place)) continue;
      moved.push(await moveOne(root, { ...appeared, path: place }, { keeper, tooLarge }));
    } catch (error) {
      moved.push({ item: { ...appeared, entries: 0, cut: [] }, problem: messageOf(error) });
    } finally {
      close();
    }
  }
  return moved;
}

async function moveOne(
  root: string,
  appeared: Appeared,
  { keeper, tooLarge }: { keeper: Keeper; tooLarge: TooLarge },
): Promise<Moved> {
  const listing = listItem(root, appeared.path, tooLarge === "leave" ? KEPT_WHOLE : KEPT, true);
  const item = { ...appeared, entries: listing.entries.length, cut: listing.cut };
  if (tooLarge === "leave" && !listing.isWhole) {
    return { item, problem: `it cannot be kept whole (${listing.cut.join(", ")}), so it was left where it is` };
  }
  try {
    await keeper.keep(item, packListing(root, listing));
    await removeItem(`${root}/${appeared.path}`);
    return { item };
  } catch (error) {
    return { item, problem: messageOf(error) };
  }
}

/** Whether something is at `path`, or may be behind a folder that is closed. */
export function mayBeThere(root: string, path: string): boolean {
  try {
    return placeOf(root, path) !== undefined;
  } catch {
    return true;
  }
}

/**
 * Where something is that makes `path` exist, or will: a symbolic link on the way stands for all behind it.
 * @throws system errors where a folder on the way is closed.
 */
export function placeOf(root: string, path: string): string | undefined {
  const parts = path.split("/");
  for (let length = 1; length <= parts.length; length++) {
    const place = parts.slice(0, length).join("/");
    const stats = statOf(`${root}/${place}`);
    if (!stats) return undefined;
    if (stats.isSymbolicLink() || length === parts.length) return place;
    if (!stats.isDirectory()) return undefined;
  }
  return undefined;
}

/** Opens the folders on the way to `path` that their owner closed; gives what closes them again. */
function openWay(root: string, path: string): () => void {
  const opened: { folder: string; mode: number }[] = [];
  const parts = path.split("/");
  for (let length = 1; length < parts.length; length++) {
    const folder = `${root}/${parts.slice(0, length).join("/")}`;
    const stats = tryTo(() => statOf(folder));
    if (!stats?.isDirectory()) break;
    if ((stats.mode & 0o700) === 0o700) continue;
    tryTo(() => chmodSync(folder, (stats.mode & 0o7777) | 0o700));
    opened.push({ folder, mode: stats.mode & 0o7777 });
  }
  return () => {
    for (const { folder, mode } of opened.toReversed()) tryTo(() => chmodSync(folder, mode));
  };
}

/** What cannot be opened is met, and said, where it is looked at. */
function tryTo<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
