import { describe, expect, it } from "vitest";
import type { PathKind } from "../../src/workspace/look.ts";
import { mountPlan } from "../../src/workspace/mount-plan.ts";

const ruled = (list: string, paths: string[]) =>
  paths.map((value, index) => ({ value, rule: `user/workspace.${list}[${index}]` }));

/** The mounts of a plan as `rw a`, for rules whose paths all exist. */
function mounts(writable: string[], readonly: string[], kinds: Record<string, PathKind> = {}): string[] {
  const found = new Map<string, PathKind>([...writable, ...readonly].map((path) => [path, kinds[path] ?? "there"]));
  const plan = mountPlan(
    "/w",
    {
      writable: { rule: "user/workspace.writable", items: ruled("writable", writable) },
      readonly: ruled("readonly", readonly),
    },
    found,
  );
  for (const { source, target } of plan.mounts) expect(source).toBe(target);
  return plan.mounts.map(({ target, readOnly }) => `${readOnly ? "ro" : "rw"} ${target}`);
}

describe("the mount plan of a policy", () => {
  it.each<[string, string[], string[], string[]]>([
    ["binds a protected file over itself", ["."], ["a.txt"], ["rw /w", "ro /w/a.txt"]],
    [
      "pins every folder above a protected path, so that none can be moved away",
      ["."],
      ["a/b/c.yml"],
      ["rw /w", "rw /w/a", "rw /w/a/b", "ro /w/a/b/c.yml"],
    ],
    ["pins a folder once for two paths in it", ["."], ["a/x", "a/y"], ["rw /w", "rw /w/a", "ro /w/a/x", "ro /w/a/y"]],
    ["leaves out what lies in a protected folder", ["."], ["a", "a/b/c"], ["rw /w", "ro /w/a"]],
    ["compares by components", ["."], ["a", "ab"], ["rw /w", "ro /w/a", "ro /w/ab"]],
    ["closes the workspace but for what can be written", ["src"], [], ["ro /w", "rw /w/src"]],
    [
      "protects inside of what can be written, and leaves the rest to the closed workspace",
      ["src"],
      ["src/a/gen", "infra"],
      ["ro /w", "rw /w/src", "rw /w/src/a", "ro /w/src/a/gen"],
    ],
    ["lets protection win over a writable folder in it", ["infra/x"], ["infra"], ["ro /w"]],
    ["lets protection win over the same folder", ["."], ["."], ["ro /w"]],
    ["writes nowhere when nothing is writable", [], [], ["ro /w"]],
  ])("%s", (_, writable, readonly, expected) => {
    expect(mounts(writable, readonly)).toEqual(expected);
  });

  it("names the rule that closed the workspace", () => {
    const rules = {
      writable: { rule: "user/workspace.writable", items: ruled("writable", ["src"]) },
      readonly: ruled("readonly", ["src/gen"]),
    };
    const found = new Map<string, PathKind>([
      ["src", "there"],
      ["src/gen", "there"],
    ]);
    expect(mountPlan("/w", rules, found)).toMatchObject({
      readonly: [
        { path: "src/gen", rule: "user/workspace.readonly[0]" },
        { path: ".", rule: "user/workspace.writable" },
      ],
      writable: ["src"],
    });
  });

  it.each<[string, PathKind, string]>([
    ["does not exist", "absent", "does not exist in the workspace"],
    ["is or lies behind a link", "link", "lies behind a symbolic link"],
    ["is a socket", "other", "neither a file nor a folder"],
  ])("refuses a named path that %s, by its rule", (_, kind, says) => {
    const act = () => mounts(["."], ["infra"], { infra: kind });
    expect(act).toThrow(`Policy rule user/workspace.readonly[0]: \`infra\``);
    expect(act).toThrow(says);
  });
});
