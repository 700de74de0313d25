import { isGlob, isWithin } from "../core/path-rules.ts";
import type { Appeared, GuardedPath } from "../core/quarantine.ts";
import { clip } from "../core/truncate.ts";
import { findMatches, lookAt } from "./look.ts";

/** At what nothing may appear, and which of it was there before and is protected. */
export type Watched = { guarded: readonly GuardedPath[]; protected: readonly string[] };

/** `problem`: why it could not be looked everywhere. */
export type Look = { found: Appeared[]; problem: string | undefined };

/**
 * What is at guarded paths of a workspace in which nothing of ours runs. Only names are looked at, no link is followed. A
 * path behind a folder that is closed counts as one where something is. What a command made to hide the rest from a
 * pattern is named, and the rest is found.
 */
export async function lookForAppeared(root: string, { guarded, protected: kept }: Watched): Promise<Look> {
  const exact = guarded.filter(({ path }) => !isGlob(path));
  const patterns = guarded.filter(({ path }) => isGlob(path));
  const pathsOf = (list: readonly GuardedPath[]): string[] => list.map(({ path }) => path);
  const kinds = await lookAt(root, pathsOf(exact));
  const { matches, misfits } = await findMatches(root, pathsOf(patterns), MAX_APPEARED);
  const matched = patterns.flatMap((one) => (matches.get(one.path) ?? []).map(({ path }) => ({ ...one, path })));
  const there = [...exact.filter(({ path }) => kinds.get(path) !== "absent"), ...matched];
  const found = there
    .filter(({ path }) => !kept.some((folder) => isWithin(path, folder)))
    .map(({ path, rule, until }) => ({ path, rule, kind: until === "end" ? ("git" as const) : ("appeared" as const) }));
  const problems = misfits.map(({ pattern, why }) => `\`${pattern}\` ${why}`);
  return { found, problem: problems.length === 0 ? undefined : clip(problems.join("; "), 1_000) };
}

/** More matches of one pattern than this are no accident, and too many to be moved one by one. */
const MAX_APPEARED = 10_000;
