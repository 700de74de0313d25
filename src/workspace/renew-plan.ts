import { join } from "node:path";
import { GloveboxError } from "../core/errors.ts";
import { isWithin } from "../core/path-rules.ts";
import { lookAt, type PathKind } from "./look.ts";
import type { MountPlan, RuledPath } from "./mount-plan.ts";

/** Workspace-relative paths to be read-only beyond a plan, and the rule that says so. */
export type Closed = { paths: readonly string[]; rule: string };

/**
 * A plan for the workspace as it is now: what is gone is guarded instead of mounted, and `closed` is read-only too. What
 * has appeared since the plan was made is no part of it. Looks without following links.
 * @throws as {@link renewed}.
 */
export async function renewPlan(root: string, plan: MountPlan, closed: Closed): Promise<MountPlan> {
  const paths = [...plan.mounts, ...plan.covers].map(({ target }) => relativeTo(root, target));
  return renewed({ root, plan, closed, found: await lookAt(root, [...paths, ...closed.paths]) });
}

/** Pure. @throws GloveboxError `WORKSPACE_REFUSED` for a path that is or lies behind a link now: a mount would follow it. */
export function renewed({
  root,
  plan,
  closed,
  found,
}: {
  root: string;
  plan: MountPlan;
  closed: Closed;
  found: ReadonlyMap<string, PathKind>;
}): MountPlan {
  const isThere = (path: string): boolean => requirePlain(path, found.get(path) ?? "absent");
  const mounts = new Map<string, boolean>();
  for (const { target, readOnly } of plan.mounts) {
    const path = relativeTo(root, target);
    if (isThere(path)) mounts.set(path, readOnly);
  }
  const covers = plan.covers.flatMap(({ target }) => {
    const path = relativeTo(root, target);
    return isThere(path)
      ? [{ target, kind: found.get(path) === "folder" ? ("folder" as const) : ("file" as const) }]
      : [];
  });
  const isGone = ({ path }: RuledPath): boolean => found.has(path) && !isThere(path);
  const gone = [...plan.readonly, ...plan.hidden].filter(isGone);
  const added = closed.paths.filter((path) => isThere(path) && isWritable(mounts, path));
  for (const path of added) close(mounts, path);
  return {
    ...plan,
    mounts: [...mounts]
      .map(([path, readOnly]) => ({ source: join(root, path), target: join(root, path), readOnly }))
      .toSorted((a, b) => depthOf(a.target) - depthOf(b.target)),
    covers,
    hidden: plan.hidden.filter((entry) => !isGone(entry)),
    readonly: [
      ...plan.readonly.filter((entry) => !isGone(entry)),
      ...added.map((path) => ({ path, rule: closed.rule })),
    ],
    guarded: [
      ...plan.guarded,
      ...gone.map(({ path, rule }) => ({ path, rule, until: path === ".git" ? ("end" as const) : ("call" as const) })),
    ],
  };
}

/** Whether the innermost mount that holds a path can be written. */
function isWritable(mounts: ReadonlyMap<string, boolean>, path: string): boolean {
  const holders = [...mounts.keys()].filter((folder) => isWithin(path, folder));
  const innermost = holders.toSorted((a, b) => depthOf(a) - depthOf(b)).at(-1) ?? ".";
  return mounts.get(innermost) === false;
}

/** Makes a path read-only, with every folder above it held in its place and nothing writable left in it. */
function close(mounts: Map<string, boolean>, path: string): void {
  for (const [inner, readOnly] of mounts) if (!readOnly && isWithin(inner, path)) mounts.delete(inner);
  const parts = path.split("/");
  for (let length = 1; length < parts.length; length++) {
    const folder = parts.slice(0, length).join("/");
    if (!mounts.has(folder)) mounts.set(folder, false);
  }
  mounts.set(path, true);
}

function requirePlain(path: string, kind: PathKind): boolean {
  if (kind === "absent") return false;
  if (kind !== "link" && kind !== "other") return true;
  throw new GloveboxError("WORKSPACE_REFUSED", `\`${path}\` in the workspace has become a link or a special file`, {
    hint: "Look at it: what it leads to could not be protected",
  });
}

function relativeTo(root: string, path: string): string {
  return path === root ? "." : path.slice(root.length + 1);
}

function depthOf(path: string): number {
  return path === "." ? 0 : path.split("/").length;
}
