import { join } from "node:path";
import { GloveboxError } from "../core/errors.ts";
import { kindAt } from "./workspace.ts";

/** A path as it is mounted: the workspace keeps its own absolute path, so that tools and messages line up. */
export type PlannedMount = { source: string; target: string; readOnly: boolean };

export type MountPlan = {
  mounts: PlannedMount[];
  /** The workspace-relative paths that are read-only, each with the rule that made it so. */
  readonly: { path: string; rule: string }[];
};

/**
 * The workspace, writable, with its protected paths bound read-only over themselves: a mount point can be neither
 * renamed nor removed. A path that does not exist is left alone, since the engine would create it on the host.
 * @throws GloveboxError `WORKSPACE_REFUSED` for a protected path that is a link: what it leads to could be changed.
 */
export async function planMounts(root: string, protectedPaths: readonly string[], source: string): Promise<MountPlan> {
  const plan: MountPlan = { mounts: [{ source: root, target: root, readOnly: false }], readonly: [] };
  for (const path of protectedPaths) {
    const kind = await kindAt(root, path);
    if (kind === "absent") continue;
    if (kind === "link") throw linkRefused(path);
    const absolute = join(root, path);
    plan.mounts.push({ source: absolute, target: absolute, readOnly: true });
    plan.readonly.push({ path, rule: `${source}/readonly[${protectedPaths.indexOf(path)}]` });
  }
  return plan;
}

function linkRefused(path: string): GloveboxError {
  return new GloveboxError(
    "WORKSPACE_REFUSED",
    `\`${path}\` in the workspace is a symbolic link, which cannot be protected`,
    {
      hint: "Look where it leads; replace it by the folder itself, or work on a fresh clone",
    },
  );
}
