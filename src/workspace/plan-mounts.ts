import { GloveboxError, systemCode } from "../core/errors.ts";
import { readMounts } from "../core/mount-points.ts";
import { isGlob } from "../core/path-rules.ts";
import { findMatches, lookAt, UnfitPattern } from "./look.ts";
import { type Found, MAX_PROTECTED, type MountPlan, type MountRules, mountPlan } from "./mount-plan.ts";

/** The mount plan of a folder as it is now. @throws as {@link mountPlan}, and for a pattern that cannot be applied. */
export async function planMounts(root: string, rules: MountRules): Promise<MountPlan> {
  return mountPlan(root, rules, await lookFor(root, rules));
}

async function lookFor(root: string, rules: MountRules): Promise<Found> {
  const all = [...rules.writable.items, ...rules.readonly, ...rules.hidden].map(({ value }) => value);
  try {
    const [kinds, matches, mounts] = await Promise.all([
      lookAt(
        root,
        all.filter((path) => !isGlob(path)),
      ),
      findMatches(root, all.filter(isGlob), MAX_PROTECTED),
      // Only Linux has such a table, and only there an engine sees what this system has mounted.
      process.platform === "linux" ? readMounts() : [],
    ]);
    return { kinds, matches, mountPoints: mounts.map(({ path }) => path) };
  } catch (error) {
    throw explained(error, rules);
  }
}

function explained(error: unknown, rules: MountRules): unknown {
  if (error instanceof UnfitPattern) {
    const rule = [...rules.readonly, ...rules.hidden].find(({ value }) => value === error.pattern)?.rule;
    return new GloveboxError("WORKSPACE_REFUSED", `Policy rule ${rule}: \`${error.pattern}\` ${error.message}`, {
      hint: "Name the folders that hold them instead, or begin the pattern with a folder",
    });
  }
  const code = systemCode(error);
  if (code === undefined) return error;
  const path = (error as { path?: string }).path ?? "a folder";
  return new GloveboxError("WORKSPACE_REFUSED", `\`${path}\` cannot be looked at for the policy's paths (${code})`, {
    hint: "Make it readable for you, or name paths elsewhere",
    cause: error,
  });
}
