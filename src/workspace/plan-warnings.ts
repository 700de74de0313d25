import { join } from "node:path";
import { isGlob, isWithin } from "../core/path-rules.ts";
import { trackedPaths } from "./git-index.ts";
import type { MountPlan } from "./mount-plan.ts";
import { readData } from "./read-data.ts";

/** The index of a repository with half a million files. */
const MAX_INDEX_BYTES = 64 * 1024 * 1024;

/** What a person should know of a plan before it is used; each one line. */
export async function planWarnings(root: string, plan: MountPlan): Promise<string[]> {
  return [...missingPaths(plan), ...(await visibleThroughGit(root, plan))];
}

/** A path that a person names and that is not there may be a slip. */
function missingPaths({ guarded }: MountPlan): string[] {
  return guarded
    .filter(({ path, rule }) => !isGlob(path) && !rule.startsWith("built-in/"))
    .map(({ path, rule }) => `${rule}: \`${path}\` does not exist; if it appears it is taken away`);
}

/** Covering a file hides nothing of what git has stored of it. */
async function visibleThroughGit(root: string, { hidden }: MountPlan): Promise<string[]> {
  if (hidden.length === 0 || hidden.some(({ path }) => path === ".git")) return [];
  const index = await readData(join(root, ".git/index"), MAX_INDEX_BYTES);
  const tracked = (index && trackedPaths(index)) ?? [];
  return hidden
    .filter(({ path }) => tracked.some((one) => isWithin(one, path)))
    .map(
      ({ path, rule }) => `${rule}: \`${path}\` is visible through git, which has it; use \`workspace.git: hidden\``,
    );
}
