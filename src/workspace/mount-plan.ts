import { join } from "node:path";
import { GloveboxError } from "../core/errors.ts";
import { isGlob, isWithin } from "../core/path-rules.ts";
import type { GuardedPath } from "../core/quarantine.ts";
import type { Policy } from "../policy/policy.ts";
import type { Match, PathKind } from "./look.ts";

/** A path as it is mounted: the workspace keeps its own absolute path, so that tools and messages line up. */
export type PlannedMount = { source: string; target: string; readOnly: boolean };

/** Something empty and read-only over a path of the workspace. */
export type Cover = { target: string; kind: "file" | "folder" };

/** A workspace-relative path, or a pattern, and the rule that speaks of it. */
export type RuledPath = { path: string; rule: string };

export type MountPlan = {
  /** Each below the ones it lies in. */
  mounts: PlannedMount[];
  covers: Cover[];
  /** What is read-only; `.` is what is not listed in `writable`. */
  readonly: RuledPath[];
  hidden: RuledPath[];
  /** Protected paths that do not exist yet, and patterns. */
  guarded: GuardedPath[];
  /** Workspace-relative: what can be written; `.` is all but the rest of this. */
  writable: string[];
};

export type MountRules = Pick<Policy, "writable" | "readonly" | "hidden">;
type Rule = MountRules["readonly"][number];

/** What is on the disk, as far as rules speak of it. */
export type Found = {
  /** By exact path. */
  kinds: ReadonlyMap<string, PathKind>;
  /** By pattern. */
  matches: ReadonlyMap<string, readonly Match[]>;
  /** Absolute paths at which other file systems are mounted. */
  mountPoints: readonly string[];
};

/** Beyond this a start takes seconds; a folder does what its many files would. */
export const MAX_PROTECTED = 1_000;

/** An existing path with its rule. */
type Place = RuledPath & { kind: "file" | "folder" };

/**
 * The workspace with what can be written, what cannot, and what cannot be seen. A protected path is bound read-only over
 * itself, a hidden one covered, and every folder between it and the workspace is bound onto itself: a mount point can be
 * neither renamed nor removed, so nothing can be put in its place. A path that does not exist is left alone, since the
 * engine would create it on the host; it is guarded instead. Pure.
 * @throws GloveboxError `WORKSPACE_REFUSED` for a path behind a link, for what is neither file nor folder, for a
 * writable path that does not exist, for a file system mounted below what is read-only, and for too many paths.
 */
export function mountPlan(root: string, rules: MountRules, found: Found): MountPlan {
  const hidden = outermost(placesOf(rules.hidden, found));
  requireNotAll(hidden);
  const isHidden = isIn(hidden);
  const readonly = outermost(placesOf(rules.readonly, found)).filter(({ path }) => !isHidden(path));
  requireFew([...hidden, ...readonly]);
  const isReadonly = isIn(readonly);
  const writable = rules.writable.items
    .map((rule) => writablePlace(rule, found))
    .filter(({ path }) => !isReadonly(path) && !isHidden(path));
  const isOpen = writable.some(({ path }) => path === ".");
  const closed = isOpen || isReadonly(".") ? [] : [{ path: ".", rule: rules.writable.rule }];
  const mounts = bindings({ isOpen, writable, readonly, hidden });
  const absolute = (path: string): string => join(root, path);
  const plan: MountPlan = {
    mounts: [...mounts]
      .map(([path, readOnly]) => ({ source: absolute(path), target: absolute(path), readOnly }))
      .toSorted(byDepth),
    covers: hidden.map(({ path, kind }) => ({ target: absolute(path), kind })).toSorted(byDepth),
    readonly: [...readonly.map(ruledPath), ...closed],
    hidden: hidden.map(ruledPath),
    guarded: [...rules.hidden, ...rules.readonly].flatMap((rule) => guardedPath(rule, found)),
    writable: writable.map(({ path }) => path),
  };
  requireNoneBelow(plan, root, found.mountPoints);
  return plan;
}

/** A workspace of which nothing is protected, for a container in which nothing of an agent's runs. */
export function wholeWorkspace(root: string): MountPlan {
  const mounts = [{ source: root, target: root, readOnly: false }];
  return { mounts, covers: [], readonly: [], hidden: [], guarded: [], writable: ["."] };
}

type Areas = { isOpen: boolean; writable: readonly Place[]; readonly: readonly Place[]; hidden: readonly Place[] };

/** What is bound onto itself, by workspace-relative path, and whether read-only. */
function bindings({ isOpen, writable, readonly, hidden }: Areas): Map<string, boolean> {
  const mounts = new Map<string, boolean>([[".", !isOpen]]);
  for (const { path } of writable) mounts.set(path, false);
  const pin = ({ path }: Place): boolean => {
    const area = writable.find((folder) => isWithin(path, folder.path));
    // What lies in no writable folder is read-only with the workspace, and cannot be moved there.
    if (!area) return false;
    for (const folder of between(area.path, path)) if (!mounts.has(folder)) mounts.set(folder, false);
    return true;
  };
  const inReadonly = isIn(readonly);
  for (const place of readonly) if (pin(place)) mounts.set(place.path, true);
  for (const place of hidden) if (!inReadonly(place.path)) pin(place);
  return mounts;
}

function placesOf(rules: readonly Rule[], { kinds, matches }: Found): Place[] {
  return rules.flatMap((rule) => {
    const { value } = rule;
    if (isGlob(value)) return (matches.get(value) ?? []).map(({ path, kind }) => place(rule, path, kind));
    const kind = kinds.get(value) ?? "absent";
    return kind === "absent" ? [] : [place(rule, value, kind)];
  });
}

function writablePlace(rule: Rule, { kinds }: Found): Place {
  const kind = kinds.get(rule.value) ?? "absent";
  if (kind !== "absent") return place(rule, rule.value, kind);
  throw refused(
    `Policy rule ${rule.rule}: \`${rule.value}\` does not exist in the workspace`,
    "Create it first or take the rule out",
  );
}

function place({ rule }: Rule, path: string, kind: PathKind): Place {
  if (kind === "file" || kind === "folder") return { path, rule, kind };
  if (kind === "link") {
    throw refused(
      `Policy rule ${rule}: \`${path}\` in the workspace is or lies behind a symbolic link, which cannot be protected`,
      "Look where it leads; name the folder itself, remove the link, or work on a fresh clone",
    );
  }
  if (kind === "closed") {
    throw refused(
      `Policy rule ${rule}: \`${path}\` cannot be looked at, a folder on the way is closed to you`,
      "Open the folder (`chmod u+rwx`), or take the rule out",
    );
  }
  throw refused(`Policy rule ${rule}: \`${path}\` is neither a file nor a folder`, "Name a file or a folder");
}

function guardedPath({ value, rule }: Rule, { kinds }: Found): GuardedPath[] {
  if (!isGlob(value) && (kinds.get(value) ?? "absent") !== "absent") return [];
  // A repository that a command makes for itself is of use until the run ends.
  return [{ path: value, rule, until: value === ".git" ? "end" : "call" }];
}

/** Folders strictly between a folder and a path in it, the outermost first. */
function between(folder: string, path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  const folders = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  return folders.filter((inner) => inner !== folder && isWithin(inner, folder));
}

/** Without what lies in another, and each path once. */
function outermost(places: readonly Place[]): Place[] {
  const paths = new Set(places.map(({ path }) => path));
  const isInner = (path: string): boolean =>
    path !== "." && (paths.has(".") || between(".", path).some((folder) => paths.has(folder)));
  const byPath = new Map<string, Place>();
  for (const one of places) if (!byPath.has(one.path) && !isInner(one.path)) byPath.set(one.path, one);
  return [...byPath.values()];
}

/** Whether a path is one of `places` or in one. */
function isIn(places: readonly Place[]): (path: string) => boolean {
  const paths = new Set(places.map(({ path }) => path));
  return (path) => paths.has(".") || paths.has(path) || between(".", path).some((folder) => paths.has(folder));
}

function requireNotAll(hidden: readonly Place[]): void {
  const all = hidden.find(({ path }) => path === ".");
  if (all) throw refused(`Policy rule ${all.rule} hides the whole workspace`, "Name what is in it");
}

function requireFew(places: readonly Place[]): void {
  if (places.length <= MAX_PROTECTED) return;
  const counts = new Map<string, number>();
  for (const { rule } of places) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const [rule, count] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? ["", 0];
  throw refused(
    `The policy protects ${places.length} paths, ${count} of them by rule ${rule}; at most ${MAX_PROTECTED} can be`,
    "Name the folders that hold them instead",
  );
}

/** Engines before 25 leave a file system writable that is mounted below a read-only path. */
function requireNoneBelow({ readonly, writable, hidden }: MountPlan, root: string, mountPoints: readonly string[]) {
  for (const point of mountPoints) {
    const path = point.slice(root.length + 1);
    const isAt = ({ path: folder }: { path: string }): boolean => isWithin(path, folder);
    if (!point.startsWith(`${root}/`) || hidden.some(isAt)) continue;
    const rule = readonly.find((one) => one.path !== "." && isAt(one)) ?? readonly.find(({ path: at }) => at === ".");
    if (!rule || (rule.path === "." && writable.some((folder) => isWithin(path, folder)))) continue;
    throw refused(
      `Policy rule ${rule.rule}: another file system is mounted at \`${path}\`, which would stay writable`,
      "Unmount it, or take the folder out of what is read-only",
    );
  }
}

function ruledPath({ path, rule }: Place): RuledPath {
  return { path, rule };
}

function byDepth(a: { target: string }, b: { target: string }): number {
  return a.target.split("/").length - b.target.split("/").length;
}

function refused(message: string, hint: string): GloveboxError {
  return new GloveboxError("WORKSPACE_REFUSED", message, { hint });
}
