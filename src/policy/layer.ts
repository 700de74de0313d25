import type { HostRule } from "./hosts.ts";

/** Where rules come from; the first part of their ids. */
export type LayerName = "organisation" | "built-in" | "user" | "project" | "flag";

/** A value and the id of the rule that says so: `user/limits.cpus`. */
export type Ruled<T> = { value: T; rule: string };

/** A list somebody has an opinion on; `rule` is the list's own, which an empty list has, too. */
export type RuledList<T> = { rule: string; items: readonly Ruled<T>[] };

/** Numbers, of which the smaller is the tighter. Sizes in bytes, times in seconds. */
export const NUMBERS = [
  "network.upload_limit",
  "limits.cpus",
  "limits.memory",
  "limits.pids",
  "limits.tmp",
  "limits.output",
  "limits.call_seconds",
  "limits.turns",
  "limits.tool_calls",
  "limits.tokens",
  "limits.usd",
  "limits.minutes",
  "limits.same_error",
] as const;

/** Words, each list from the loosest to the tightest. */
export const CHOICES = {
  "approval.read": ["allow", "ask", "deny"],
  "approval.write": ["allow", "ask", "deny"],
  "approval.exec": ["allow", "ask", "deny"],
  "approval.net": ["allow", "ask", "deny"],
  "workspace.mode": ["bind", "copy"],
  "workspace.git": ["private", "readonly", "hidden"],
  "workspace.hardlinks": ["allow", "protect"],
  "workspace.cache": ["true", "false"],
  "sandbox.ptrace": ["true", "false"],
} as const;

/**
 * Lists. `union`: what any layer lists holds (protections). `intersection`: what every layer with an opinion lists
 * holds (permissions). `folders` and `prefixes`: as intersection, of all that lies in the folders, of all commands that
 * begin so. `commands.restrict` has items such as `ask git push`.
 */
export const LISTS = {
  "workspace.readonly": "union",
  "workspace.hidden": "union",
  /** The default protected list; no file has such a key. */
  "workspace.protected": "union",
  "tools.deny": "union",
  "commands.restrict": "union",
  "commands.allow": "prefixes",
  "workspace.unprotect": "intersection",
  "network.forward": "intersection",
  "env.pass": "intersection",
  "env.set": "intersection",
  images: "intersection",
  "workspace.writable": "folders",
} as const;

export type NumberName = (typeof NUMBERS)[number];
export type ChoiceName = keyof typeof CHOICES;
export type ListName = keyof typeof LISTS;
/** Values of which none is tighter than another. */
export type PickName = "image" | "sandbox.runtime";
export type HostListName = "allow" | "ask" | "deny";

export const CHOICE_NAMES = Object.keys(CHOICES) as ChoiceName[];
export const LIST_NAMES = Object.keys(LISTS) as ListName[];

/** The opinions of one origin; what is absent is no opinion. */
export type Layer = {
  numbers: Partial<Record<NumberName, Ruled<number>>>;
  choices: Partial<Record<ChoiceName, Ruled<string>>>;
  lists: Partial<Record<ListName, RuledList<string>>>;
  hosts: Partial<Record<HostListName, RuledList<HostRule>>>;
  picks: Partial<Record<PickName, Ruled<string>>>;
};

export const NO_OPINION: Layer = { numbers: {}, choices: {}, lists: {}, hosts: {}, picks: {} };
