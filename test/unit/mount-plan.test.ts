import { describe, expect, it } from "vitest";
import type { Match, PathKind } from "../../src/workspace/look.ts";
import { type MountRules, mountPlan } from "../../src/workspace/mount-plan.ts";

type Lists = { writable?: string[]; readonly?: string[]; hidden?: string[] };
type Disk = { kinds?: Record<string, PathKind>; matches?: Record<string, Match[]>; mountPoints?: string[] };

const ruled = (list: string, paths: string[]) =>
  paths.map((value, index) => ({ value, rule: `user/workspace.${list}[${index}]` }));

function rulesOf({ writable = ["."], readonly = [], hidden = [] }: Lists): MountRules {
  return {
    writable: { rule: "user/workspace.writable", items: ruled("writable", writable) },
    readonly: ruled("readonly", readonly),
    hidden: ruled("hidden", hidden),
  };
}

/** The plan of a workspace `/w` in which what rules name exists: names with a dot are files. */
function plan(lists: Lists, { kinds = {}, matches = {}, mountPoints = [] }: Disk = {}) {
  const paths = Object.values(lists).flat();
  const kindOf = (path: string): PathKind => kinds[path] ?? (/\w\.\w/.test(path) ? "file" : "folder");
  return mountPlan("/w", rulesOf(lists), {
    kinds: new Map([".", ...paths].map((path) => [path, kindOf(path)])),
    matches: new Map(Object.entries(matches)),
    mountPoints,
  });
}

function mounts(lists: Lists, disk: Disk = {}): string[] {
  const { mounts: planned, covers } = plan(lists, disk);
  for (const { source, target } of planned) expect(source).toBe(target);
  return [
    ...planned.map(({ target, readOnly }) => `${readOnly ? "ro" : "rw"} ${target}`),
    ...covers.map(({ target, kind }) => `empty ${kind} ${target}`),
  ];
}

describe("the mount plan of a policy", () => {
  it.each<[string, Lists, string[]]>([
    ["binds a protected file over itself", { readonly: ["a.txt"] }, ["rw /w", "ro /w/a.txt"]],
    [
      "pins every folder above a protected path, so that none can be moved away",
      { readonly: ["a/b/c.yml"] },
      ["rw /w", "rw /w/a", "rw /w/a/b", "ro /w/a/b/c.yml"],
    ],
    [
      "pins a folder once for two paths in it",
      { readonly: ["a/x", "a/y"] },
      ["rw /w", "rw /w/a", "ro /w/a/x", "ro /w/a/y"],
    ],
    ["leaves out what lies in a protected folder", { readonly: ["a", "a/b/c"] }, ["rw /w", "ro /w/a"]],
    ["compares by components", { readonly: ["a", "ab"] }, ["rw /w", "ro /w/a", "ro /w/ab"]],
    ["closes the workspace but for what can be written", { writable: ["src"] }, ["ro /w", "rw /w/src"]],
    [
      "protects inside of what can be written, and leaves the rest to the closed workspace",
      { writable: ["src"], readonly: ["src/a/gen", "infra"] },
      ["ro /w", "rw /w/src", "rw /w/src/a", "ro /w/src/a/gen"],
    ],
    ["lets protection win over a writable folder in it", { writable: ["infra/x"], readonly: ["infra"] }, ["ro /w"]],
    ["lets protection win over the same folder", { readonly: ["."] }, ["ro /w"]],
    ["writes nowhere when nothing is writable", { writable: [] }, ["ro /w"]],
    [
      "covers what is hidden and pins the folders above it",
      { hidden: ["a/b/key.pem", "secrets"] },
      ["rw /w", "rw /w/a", "rw /w/a/b", "empty folder /w/secrets", "empty file /w/a/b/key.pem"],
    ],
    ["hides what is read-only, too", { readonly: ["a"], hidden: ["a"] }, ["rw /w", "empty folder /w/a"]],
    [
      "hides inside of what is read-only",
      { readonly: ["a"], hidden: ["a/k"] },
      ["rw /w", "ro /w/a", "empty folder /w/a/k"],
    ],
    ["leaves out what lies in a hidden folder", { readonly: ["a/b"], hidden: ["a"] }, ["rw /w", "empty folder /w/a"]],
    [
      "lets hiding win over a writable folder",
      { writable: ["src", "a"], hidden: ["a"] },
      ["ro /w", "rw /w/src", "empty folder /w/a"],
    ],
    ["hides in a closed workspace", { writable: ["src"], hidden: ["k"] }, ["ro /w", "rw /w/src", "empty folder /w/k"]],
  ])("%s", (_, lists, expected) => {
    expect(mounts(lists)).toEqual(expected);
  });

  it("protects what a pattern means, and guards against more of it", () => {
    const matches = {
      "**/.env": [
        { path: ".env", kind: "file" as const },
        { path: "a/.env", kind: "file" as const },
      ],
    };
    expect(mounts({ hidden: ["**/.env"] }, { matches })).toEqual([
      "rw /w",
      "rw /w/a",
      "empty file /w/.env",
      "empty file /w/a/.env",
    ]);
    expect(plan({ hidden: ["**/.env"] }, { matches }).guarded).toEqual([
      { path: "**/.env", rule: "user/workspace.hidden[0]", until: "call" },
    ]);
  });

  it("O-POL-04 mounts nothing over a path that does not exist, and guards it", () => {
    const planned = plan({ readonly: [".git", ".envrc"] }, { kinds: { ".git": "absent", ".envrc": "absent" } });
    expect(planned.mounts.map(({ target }) => target)).toEqual(["/w"]);
    expect(planned.guarded).toEqual([
      { path: ".git", rule: "user/workspace.readonly[0]", until: "end" },
      { path: ".envrc", rule: "user/workspace.readonly[1]", until: "call" },
    ]);
  });

  it("names the rule that closed the workspace", () => {
    expect(plan({ writable: ["src"], readonly: ["src/gen"] })).toMatchObject({
      readonly: [
        { path: "src/gen", rule: "user/workspace.readonly[0]" },
        { path: ".", rule: "user/workspace.writable" },
      ],
      writable: ["src"],
    });
  });

  it.each<[string, Lists, Disk, string]>([
    [
      "FS-38 a path that is or lies behind a link",
      { readonly: ["infra"] },
      { kinds: { infra: "link" } },
      "Policy rule user/workspace.readonly[0]: `infra` in the workspace is or lies behind a symbolic link",
    ],
    [
      "FS-38 a match of a pattern that is a link",
      { hidden: ["**/.env"] },
      { matches: { "**/.env": [{ path: "a/.env", kind: "link" }] } },
      "Policy rule user/workspace.hidden[0]: `a/.env` in the workspace is or lies behind a symbolic link",
    ],
    ["a socket", { hidden: ["s"] }, { kinds: { s: "other" } }, "`s` is neither a file nor a folder"],
    [
      "a writable path that does not exist",
      { writable: ["src"] },
      { kinds: { src: "absent" } },
      "Policy rule user/workspace.writable[0]: `src` does not exist in the workspace",
    ],
    ["hiding everything", { hidden: ["."] }, {}, "Policy rule user/workspace.hidden[0] hides the whole workspace"],
    [
      "FS-44 a file system mounted below what is read-only",
      { readonly: ["data"] },
      { mountPoints: ["/", "/w", "/w/data/disk"] },
      "Policy rule user/workspace.readonly[0]: another file system is mounted at `data/disk`",
    ],
    [
      "FS-44 a file system mounted in a closed workspace",
      { writable: ["src"] },
      { mountPoints: ["/w/disk"] },
      "Policy rule user/workspace.writable: another file system is mounted at `disk`",
    ],
  ])("refuses %s, by its rule", (_, lists, disk, says) => {
    expect(() => plan(lists, disk)).toThrow(says);
  });

  it.each<[string, Lists]>([
    ["where everything can be written", {}],
    ["in a writable folder of a closed workspace", { writable: ["disk"] }],
    ["that is hidden", { writable: ["src"], hidden: ["disk"] }],
  ])("lets a file system be mounted %s", (_, lists) => {
    expect(() => plan(lists, { mountPoints: ["/w/disk", "/wdata", "/"] })).not.toThrow();
  });

  it("refuses more paths than a start has time for, and names the rule that has most", () => {
    const many = Array.from({ length: 1_001 }, (_, index) => ({ path: `f${index}`, kind: "file" as const }));
    expect(() => plan({ readonly: ["a"], hidden: ["f*"] }, { matches: { "f*": many } })).toThrow(
      "The policy protects 1002 paths, 1001 of them by rule user/workspace.hidden[0]; at most 1000 can be",
    );
  });
});
