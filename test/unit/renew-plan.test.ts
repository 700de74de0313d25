import { describe, expect, it } from "vitest";
import type { PathKind } from "../../src/workspace/look.ts";
import type { MountPlan } from "../../src/workspace/mount-plan.ts";
import { renewed } from "../../src/workspace/renew-plan.ts";

const ROOT = "/srv/ws";
const RULE = "built-in/workspace.hardlinks";

/** A plan by relative paths: `+` writable, `-` read-only. */
function planOf(mounts: string[], more: Partial<MountPlan> = {}): MountPlan {
  return {
    mounts: mounts.map((text) => {
      const path = text.slice(1) === "." ? ROOT : `${ROOT}/${text.slice(1)}`;
      return { source: path, target: path, readOnly: text.startsWith("-") };
    }),
    covers: [],
    readonly: mounts.filter((text) => text.startsWith("-")).map((text) => ({ path: text.slice(1), rule: "r" })),
    hidden: [],
    guarded: [],
    writable: ["."],
    ...more,
  };
}

function renew(plan: MountPlan, found: Record<string, PathKind>, paths: string[] = []) {
  const kinds = new Map<string, PathKind>([[".", "folder"], ...(Object.entries(found) as [string, PathKind][])]);
  const { mounts, covers, readonly, hidden, guarded } = renewed({
    root: ROOT,
    plan,
    closed: { paths, rule: RULE },
    found: kinds,
  });
  const shown = mounts.map(({ source, target, readOnly }) => {
    expect(source).toBe(target);
    return `${readOnly ? "-" : "+"}${target === ROOT ? "." : target.slice(ROOT.length + 1)}`;
  });
  return { mounts: shown, covers, readonly: readonly.map(({ path, rule }) => `${path} ${rule}`), hidden, guarded };
}

describe("a plan that is renewed", () => {
  it("stays as it is where everything is as it was", () => {
    const plan = planOf(["+.", "+a", "-a/b", "-.envrc"]);
    expect(renew(plan, { a: "folder", "a/b": "folder", ".envrc": "file" })).toEqual({
      ...{ mounts: ["+.", "+a", "-.envrc", "-a/b"], covers: [], hidden: [], guarded: [] },
      readonly: ["a/b r", ".envrc r"],
    });
  });

  it("guards what is gone, and mounts nothing where nothing is", () => {
    const cover = { target: `${ROOT}/.env`, kind: "file" as const };
    const plan = planOf(["+.", "-.envrc", "-.git"], { covers: [cover], hidden: [{ path: ".env", rule: "h" }] });
    expect(renew(plan, { ".envrc": "absent", ".git": "absent", ".env": "absent" })).toEqual({
      ...{ mounts: ["+."], covers: [], readonly: [], hidden: [] },
      guarded: [
        { path: ".envrc", rule: "r", until: "call" },
        { path: ".git", rule: "r", until: "end" },
        { path: ".env", rule: "h", until: "call" },
      ],
    });
  });

  it("covers a folder that has become a file as one", () => {
    const covers = [{ target: `${ROOT}/secrets`, kind: "folder" as const }];
    expect(renew(planOf(["+."], { covers }), { secrets: "file" }).covers).toEqual([
      { target: `${ROOT}/secrets`, kind: "file" },
    ]);
  });

  it.each(["link", "other"] as const)("is refused when a protected path has become a %s", (kind) => {
    expect(() => renew(planOf(["+.", "-.envrc"]), { ".envrc": kind })).toThrow(/`.envrc` in the workspace has become/);
  });

  it("holds the folders above what is closed in their place", () => {
    const found = { "a/b/c": "folder", "x.bin": "file" } as const;
    expect(renew(planOf(["+."]), found, ["a/b/c", "x.bin"])).toMatchObject({
      mounts: ["+.", "+a", "-x.bin", "+a/b", "-a/b/c"],
      readonly: [`a/b/c ${RULE}`, `x.bin ${RULE}`],
    });
  });

  it("leaves nothing writable in what is closed, and keeps what is read-only there", () => {
    const plan = planOf(["+.", "+a", "+a/b", "-a/b/c"]);
    const found = { a: "folder", "a/b": "folder", "a/b/c": "folder" } as const;
    expect(renew(plan, found, ["a"]).mounts).toEqual(["+.", "-a", "-a/b/c"]);
    expect(renew(plan, found, ["."]).mounts).toEqual(["-.", "-a/b/c"]);
  });

  it("closes nothing that is gone or cannot be written anyway", () => {
    const plan = planOf(["-.", "+src", "-src/gen"], { writable: ["src"] });
    const found = { src: "folder", "src/gen": "folder", "src/gen/x": "folder", lib: "folder", gone: "absent" } as const;
    expect(renew(plan, found, ["src/gen/x", "lib", "gone"])).toMatchObject({
      mounts: ["-.", "+src", "-src/gen"],
      readonly: [". r", "src/gen r"],
    });
  });
});
