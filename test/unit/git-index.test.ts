import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { trackedPaths } from "../../src/workspace/git-index.ts";
import type { MountPlan } from "../../src/workspace/mount-plan.ts";
import { planWarnings } from "../../src/workspace/plan-warnings.ts";
import { holds } from "../support/property.ts";

const FILES = [".env", "a/b/c.txt", "a/b/cd.txt", "a/é ü.txt", "later.txt", `long/${"x".repeat(200)}`];

let root = "";
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "glovebox-index-")));
});
afterAll(() => rm(root, { recursive: true }));

async function repository(name: string, ...init: string[]): Promise<string> {
  const folder = join(root, name);
  for (const file of FILES) {
    await mkdir(join(folder, file, ".."), { recursive: true });
    await writeFile(join(folder, file), file);
  }
  const git = (...args: string[]) =>
    execa("git", args, { cwd: folder, env: { HOME: root, GIT_CONFIG_NOSYSTEM: "1" }, extendEnv: true });
  await git("init", "-q", ...init);
  await git("add", ".env", "a", "long");
  // An entry of version 3: one that is only meant to be added.
  await git("add", "-N", "later.txt");
  return folder;
}

const indexOf = (folder: string) => readFile(join(folder, ".git/index"));

describe("the paths of a git index", () => {
  it.each([
    ["version 3", []],
    ["SHA-256", ["--object-format=sha256"]],
  ])("are read from %s", async (name, init) => {
    const index = await indexOf(await repository(name, ...init));
    expect(index.readUInt32BE(4)).toBe(3);
    expect(trackedPaths(index)?.toSorted()).toEqual(FILES.toSorted());
  });

  it.each(["2", "4"])("are read from version %s", async (version) => {
    const folder = await repository(`v${version}`);
    await execa("git", ["rm", "-q", "--cached", "later.txt"], { cwd: folder });
    await execa("git", ["update-index", `--index-version=${version}`], { cwd: folder });
    const index = await indexOf(folder);
    expect(index.readUInt32BE(4)).toBe(Number(version));
    expect(trackedPaths(index)?.toSorted()).toEqual(FILES.filter((path) => path !== "later.txt").toSorted());
  });

  it("are none for what is no index, whatever its bytes are", async () => {
    const index = await indexOf(await repository("hostile"));
    expect(trackedPaths(Buffer.from("DIRC"))).toBeUndefined();
    expect(trackedPaths(index.subarray(0, 200))).toBeUndefined();
    holds(
      fc.property(fc.nat(index.length - 1), fc.uint8Array({ minLength: 1, maxLength: 8 }), (at, bytes) => {
        const spoilt = Buffer.from(index);
        spoilt.set(bytes.subarray(0, spoilt.length - at), at);
        trackedPaths(spoilt);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("the warnings of a mount plan", () => {
  const planOf = (changes: Partial<MountPlan>): MountPlan => ({
    ...{ mounts: [], covers: [], readonly: [], hidden: [], guarded: [], writable: ["."] },
    ...changes,
  });
  const hidden = [
    { path: ".env", rule: "user/workspace.hidden[0]" },
    { path: "untracked", rule: "user/workspace.hidden[1]" },
    { path: "a", rule: "user/workspace.hidden[2]" },
  ];

  it("name hidden paths that git has, unless git is hidden, too", async () => {
    const folder = await repository("warned");
    expect(await planWarnings(folder, planOf({ hidden }))).toEqual([
      "user/workspace.hidden[0]: `.env` is visible through git, which has it; use `workspace.git: hidden`",
      "user/workspace.hidden[2]: `a` is visible through git, which has it; use `workspace.git: hidden`",
    ]);
    const git = { path: ".git", rule: "user/workspace.git" };
    expect(await planWarnings(folder, planOf({ hidden: [...hidden, git] }))).toEqual([]);
  });

  it("follow no link to an index", async () => {
    const folder = join(root, "linked");
    await mkdir(folder);
    await symlink(join(await repository("elsewhere"), ".git"), join(folder, ".git"));
    expect(await planWarnings(folder, planOf({ hidden }))).toEqual([]);
  });

  it("name what somebody protects and is not there", async () => {
    const guarded = [
      { path: "infar", rule: "user/workspace.readonly[0]", until: "call" as const },
      { path: "**/.env", rule: "user/workspace.hidden[0]", until: "call" as const },
      { path: ".envrc", rule: "built-in/workspace.protected[4]", until: "call" as const },
    ];
    expect(await planWarnings(root, planOf({ guarded }))).toEqual([
      "user/workspace.readonly[0]: `infar` does not exist; if it appears it is taken away",
    ]);
  });
});
