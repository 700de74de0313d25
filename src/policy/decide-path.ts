import { isWithin, matchesPath } from "../core/path-rules.ts";
import type { Bounds } from "./bounds.ts";
import { protectionsOf } from "./protections.ts";

export type PathDecision = { type: "writable" | "readonly" | "hidden"; rule: string };

/** What can be done to a path of the workspace, and the rule that says so; the strictest of all that match. */
export function decidePath(bounds: Pick<Bounds, "lists" | "choices">, path: string): PathDecision {
  const protections = protectionsOf(bounds);
  for (const type of ["hidden", "readonly"] as const) {
    const match = protections[type].find(({ value }) => matchesPath(value, path));
    if (match) return { type, rule: match.rule };
  }
  const writable = bounds.lists["workspace.writable"];
  if (!writable) return { type: "writable", rule: "built-in/workspace.writable" };
  const folder = writable.items.find(({ value }) => isWithin(path, value));
  return folder ? { type: "writable", rule: folder.rule } : { type: "readonly", rule: writable.rule };
}
