import { join } from "node:path";
import { GloveboxError } from "../core/errors.ts";
import { isWithin } from "../policy/paths.ts";
import type { Policy } from "../policy/policy.ts";
import type { PathKind } from "./look.ts";

/** A path as it is mounted: the workspace keeps its own absolute path, so that tools and messages line up. */
export type PlannedMount = { source: string; target: string; readOnly: boolean };

export type MountPlan = {
  /** Each below the ones it lies in. */
  mounts: PlannedMount[];
  /** The workspace-relative paths that are read-only, each with the rule that made it so; `.` is what is not listed in `writable`. */
  readonly: { path: string; rule: string }[];
  /** Workspace-relative: what can be written; `.` is all but `readonly`. */
  writable: string[];
};

export type MountRules = Pick<Policy, "writable" | "readonly">;
type Rule = MountRules["readonly"][number];

/**
 * The workspace with what can be written and what cannot. A protected path is bound read-only over itself, and every
 * folder between it and the workspace onto itself: a mount point can be neither renamed nor removed, so nothing can be
 * put in its place. A path that does not exist is left alone, since the engine would create it on the host. Pure.
 * @throws GloveboxError `WORKSPACE_REFUSED` for a path behind a link, for what is neither file nor folder, and for a
 * named path that does not exist: what appears there later could not be protected.
 */
export function mountPlan(root: string, rules: MountRules, found: ReadonlyMap<string, PathKind>): MountPlan {
  const exists = (rule: Rule): boolean => isThere(rule, found.get(rule.value) ?? "absent");
  const readonly = outermost(rules.readonly.filter(exists));
  const isReadonly = (path: string): boolean => readonly.some(({ value }) => isWithin(path, value));
  const writable = rules.writable.items.filter(exists).filter(({ value }) => !isReadonly(value));
  const isOpen = writable.some(({ value }) => value === ".");
  const mounts = new Map<string, boolean>([[".", !isOpen]]);
  for (const { value } of writable) mounts.set(value, false);
  for (const { value } of readonly) {
    const area = writable.find((folder) => isWithin(value, folder.value));
    // What lies in no writable folder is read-only with the workspace, and cannot be moved there.
    if (!area) continue;
    for (const folder of between(area.value, value)) if (!mounts.has(folder)) mounts.set(folder, false);
    mounts.set(value, true);
  }
  const closed = isOpen || isReadonly(".") ? [] : [{ path: ".", rule: rules.writable.rule }];
  return {
    mounts: [...mounts]
      .map(([path, readOnly]) => ({ source: join(root, path), target: join(root, path), readOnly }))
      .toSorted(byDepth),
    readonly: [...readonly.map(({ value, rule }) => ({ path: value, rule })), ...closed],
    writable: writable.map(({ value }) => value),
  };
}

/** Folders strictly between a folder and a path in it, the outermost first. */
function between(folder: string, path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  const folders = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  return folders.filter((inner) => inner !== folder && isWithin(inner, folder));
}

function outermost(rules: readonly Rule[]): Rule[] {
  return rules.filter(({ value }) => !rules.some((other) => other.value !== value && isWithin(value, other.value)));
}

function byDepth(a: PlannedMount, b: PlannedMount): number {
  return a.target.split("/").length - b.target.split("/").length;
}

function isThere({ value, rule }: Rule, kind: PathKind): boolean {
  switch (kind) {
    case "there":
      return true;
    case "absent":
      // The built-in list names what many folders do not have.
      if (rule.startsWith("built-in/")) return false;
      throw refused(
        `Policy rule ${rule}: \`${value}\` does not exist in the workspace`,
        "Create it first or take the rule out: what appears there later could not be protected",
      );
    case "link":
      throw refused(
        `Policy rule ${rule}: \`${value}\` in the workspace is or lies behind a symbolic link, which cannot be protected`,
        "Look where it leads; name the folder itself, or work on a fresh clone",
      );
    case "other":
      throw refused(`Policy rule ${rule}: \`${value}\` is neither a file nor a folder`, "Name a file or a folder");
    default:
      return kind satisfies never;
  }
}

function refused(message: string, hint: string): GloveboxError {
  return new GloveboxError("WORKSPACE_REFUSED", message, { hint });
}
