import { isGlob, isWithin } from "../core/path-rules.ts";
import type { Appeared, GuardedPath } from "../core/quarantine.ts";
import { lookAt } from "./look.ts";

/** At what nothing may appear, and which of it was there before and is protected. */
export type Watched = { guarded: readonly GuardedPath[]; protected: readonly string[] };

/**
 * What is at guarded paths of a workspace in which nothing of ours runs. Only names are looked at, no link is followed.
 */
export async function lookForAppeared(root: string, { guarded, protected: kept }: Watched): Promise<Appeared[]> {
  const exact = guarded.filter(({ path }) => !isGlob(path) && !kept.some((folder) => isWithin(path, folder)));
  const found = await lookAt(
    root,
    exact.map(({ path }) => path),
  );
  return exact
    .filter(({ path }) => found.get(path) !== "absent")
    .map(({ path, rule, until }) => ({ path, rule, kind: until === "end" ? ("git" as const) : ("appeared" as const) }));
}
