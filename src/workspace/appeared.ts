import { isGlob, isWithin } from "../core/path-rules.ts";
import type { Appeared, GuardedPath } from "../core/quarantine.ts";
import { findMatches, lookAt } from "./look.ts";

/** At what nothing may appear, and which of it was there before and is protected. */
export type Watched = { guarded: readonly GuardedPath[]; protected: readonly string[] };

/**
 * What is at guarded paths of a workspace in which nothing of ours runs. Only names are looked at, no link is followed.
 */
export async function lookForAppeared(root: string, { guarded, protected: kept }: Watched): Promise<Appeared[]> {
  const [patterns, exact] = [guarded.filter(({ path }) => isGlob(path)), guarded.filter(({ path }) => !isGlob(path))];
  const [kinds, matches] = await Promise.all([
    lookAt(
      root,
      exact.map(({ path }) => path),
    ),
    findMatches(
      root,
      patterns.map(({ path }) => path),
      MAX_APPEARED,
    ),
  ]);
  const found = [
    ...exact.filter(({ path }) => kinds.get(path) !== "absent"),
    ...patterns.flatMap((one) => (matches.get(one.path) ?? []).map(({ path }) => ({ ...one, path }))),
  ].filter(({ path }) => !kept.some((folder) => isWithin(path, folder)));
  return found.map(({ path, rule, until }) => ({ path, rule, kind: until === "end" ? "git" : "appeared" }));
}

/** More matches of one pattern than this are no accident, and too many to be moved one by one. */
const MAX_APPEARED = 10_000;
