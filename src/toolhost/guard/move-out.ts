import { messageOf } from "../../core/errors.ts";
import type { Appeared, QuarantineItem } from "../../core/quarantine.ts";
import type { Keeper } from "./keeper.ts";
import { KEPT, listItem, statOf } from "./listing.ts";
import { packListing } from "./pack.ts";
import { removeItem } from "./remove.ts";

/** What became of something that appeared; `problem`: it is still there. */
export type Moved = { item: QuarantineItem; problem?: string };

/**
 * Hands what is at each path over to the controller and removes it then; a path where nothing is is left out. Whoever
 * calls stops the processes that could change it meanwhile.
 */
export async function moveOut(root: string, paths: readonly Appeared[], keeper: Keeper): Promise<Moved[]> {
  const moved: Moved[] = [];
  for (const appeared of paths) {
    const place = placeOf(root, appeared.path);
    if (place === undefined || moved.some(({ item }) => item.path === place)) continue;
    const listing = listItem(root, place, KEPT, true);
    const item = { ...appeared, path: place, entries: listing.entries.length, cut: listing.cut };
    try {
      await keeper.keep(item, packListing(root, listing));
      await removeItem(`${root}/${place}`);
      moved.push({ item });
    } catch (error) {
      moved.push({ item, problem: messageOf(error) });
    }
  }
  return moved;
}

/** Where something is that makes `path` exist, or will: a symbolic link on the way stands for all behind it. */
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
