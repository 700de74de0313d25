import { GloveboxError } from "../core/errors.ts";
import { readMounts } from "../core/mount-points.ts";
import { isGlob } from "../core/path-rules.ts";
import { findMatches, lookAt, type Misfit } from "./look.ts";
import { type Found, MAX_PROTECTED, type MountPlan, type MountRules, mountPlan } from "./mount-plan.ts";

/** The mount plan of a folder as it is now. @throws as {@link mountPlan}, and for a pattern that cannot be applied. */
export async function planMounts(root: string, rules: MountRules): Promise<MountPlan> {
  return mountPlan(root, rules, await lookFor(root, rules));
}

async function lookFor(root: string, rules: MountRules): Promise<Found> {
  const all = [...rules.writable.items, ...rules.readonly, ...rules.hidden].map(({ value }) => value);
  const exact = all.filter((path) => !isGlob(path));
  const [kinds, { matches, misfits }, mounts] = await Promise.all([
    lookAt(root, exact),
    findMatches(root, all.filter(isGlob), MAX_PROTECTED),
    // Only Linux has such a table, and only there an engine sees what this system has mounted.
    process.platform === "linux" ? readMounts() : [],
  ]);
  if (misfits[0]) throw refused(misfits[0], rules);
  return { kinds, matches, mountPoints: mounts.map(({ path }) => path) };
}

function refused({ pattern, why }: Misfit, rules: MountRules): GloveboxError {
  const rule = [...rules.readonly, ...rules.hidden].find(({ value }) => value === pattern)?.rule;
  return new GloveboxError("WORKSPACE_REFUSED", `Policy rule ${rule}: \`${pattern}\` ${why}`, {
    hint: "Name the folders that hold them instead, or begin the pattern with a folder",
  });
}
