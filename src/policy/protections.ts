import type { Bounds } from "./bounds.ts";
import type { Ruled } from "./layer.ts";

/** Paths and patterns that cannot be changed, and those that cannot be seen either; each with its rule. */
export type Protections = { readonly: readonly Ruled<string>[]; hidden: readonly Ruled<string>[] };

/** What bounds protect: what is listed, and of the default list what nobody who may has opened. */
export function protectionsOf({ lists, choices }: Pick<Bounds, "lists" | "choices">): Protections {
  const opened = new Set(lists["workspace.unprotect"]?.items.map(({ value }) => value));
  const standing = lists["workspace.protected"]?.items.filter(({ value }) => !opened.has(value)) ?? [];
  const git = choices["workspace.git"];
  return {
    readonly: [...(lists["workspace.readonly"]?.items ?? []), ...standing],
    hidden: [
      ...(lists["workspace.hidden"]?.items ?? []),
      ...(git?.value === "hidden" ? [{ value: ".git", rule: git.rule }] : []),
    ],
  };
}
