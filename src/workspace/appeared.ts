import { messageOf } from "../core/errors.ts";
import { isGlob, isWithin } from "../core/path-rules.ts";
import type { Appeared, GuardedPath } from "../core/quarantine.ts";
import { findMatches, lookAt, UnfitPattern } from "./look.ts";

/** At what nothing may appear, and which of it was there before and is protected. */
export type Watched = { guarded: readonly GuardedPath[]; protected: readonly string[] };

/** `problem`: why it could not be looked everywhere. */
export type Look = { found: Appeared[]; problem: string | undefined };

/**
 * What is at guarded paths of a workspace in which nothing of ours runs. Only names are looked at, no link is followed.
 */
export async function lookForAppeared(root: string, { guarded, protected: kept }: Watched): Promise<Look> {
  const exact = guarded.filter(({ path }) => !isGlob(path));
  const kinds = await lookAt(
    root,
    exact.map(({ path }) => path),
  );
  const { matched, problem } = await matchesOf(
    root,
    guarded.filter(({ path }) => isGlob(path)),
  );
  const there = [...exact.filter(({ path }) => kinds.get(path) !== "absent"), ...matched];
  const found = there
    .filter(({ path }) => !kept.some((folder) => isWithin(path, folder)))
    .map(({ path, rule, until }) => ({ path, rule, kind: until === "end" ? ("git" as const) : ("appeared" as const) }));
  return { found, problem };
}

/** A command can make names and numbers of files that no pattern can be applied to, which must not hide the rest. */
async function matchesOf(
  root: string,
  patterns: readonly GuardedPath[],
): Promise<{ matched: GuardedPath[]; problem: string | undefined }> {
  try {
    const matches = await findMatches(
      root,
      patterns.map(({ path }) => path),
      MAX_APPEARED,
    );
    const matched = patterns.flatMap((one) => (matches.get(one.path) ?? []).map(({ path }) => ({ ...one, path })));
    return { matched, problem: undefined };
  } catch (error) {
    const pattern = error instanceof UnfitPattern ? `\`${error.pattern}\` ` : "";
    return { matched: [], problem: `${pattern}${messageOf(error)}` };
  }
}

/** More matches of one pattern than this are no accident, and too many to be moved one by one. */
const MAX_APPEARED = 10_000;
