import type { Bounds } from "./bounds.ts";
import { isWithin, matchesPath } from "./paths.ts";

export type PathDecision = { type: "writable" | "readonly" | "hidden"; rule: string };

/** What can be done to a path of the workspace, and the rule that says so; the strictest of all that match. */
export function decidePath({ lists }: Pick<Bounds, "lists">, path: string): PathDecision {
  const match = (name: "workspace.hidden" | "workspace.readonly"): string | undefined =>
    lists[name]?.items.find(({ value }) => matchesPath(value, path))?.rule;
  const hidden = match("workspace.hidden");
  if (hidden !== undefined) return { type: "hidden", rule: hidden };
  const readonly = match("workspace.readonly");
  if (readonly !== undefined) return { type: "readonly", rule: readonly };
  const writable = lists["workspace.writable"];
  if (!writable) return { type: "writable", rule: "built-in/workspace.writable" };
  const folder = writable.items.find(({ value }) => isWithin(path, value));
  return folder ? { type: "writable", rule: folder.rule } : { type: "readonly", rule: writable.rule };
}
