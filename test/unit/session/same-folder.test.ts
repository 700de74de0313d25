import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BUILT_IN_POLICY } from "../../../src/policy/policy.ts";
import { guardWorkspace } from "../../../src/session/guarding.ts";
import { wholeWorkspace } from "../../../src/workspace/mount-plan.ts";
import { folderState, identityOf } from "../../../src/workspace/same-folder.ts";

let folder: string;
let root: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "glovebox-same-"));
  root = join(folder, "repo");
  await mkdir(root);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a folder at a path", () => {
  it("is the same whatever is made in it", async () => {
    const before = await identityOf(root);
    await mkdir(join(root, "src"));
    await writeFile(join(root, "src/a"), "a");
    expect(await folderState(root, before)).toBe("same");
  });

  it.each([
    ["moved away", () => rename(root, join(folder, "elsewhere")), "gone"],
    ["behind a file", () => rm(root, { recursive: true }).then(() => writeFile(root, "")), "another"],
    ["removed and made again", () => rm(root, { recursive: true }).then(() => mkdir(root)), "another"],
    [
      "moved away with a link in its place",
      async () => {
        await rename(root, join(folder, "elsewhere"));
        await symlink(join(folder, "elsewhere"), root);
      },
      "another",
    ],
  ])("is not the one that was %s", async (_, change, state) => {
    const before = await identityOf(root);
    // The clock of a file system ticks every few milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 20));
    await change();
    expect(await folderState(root, before)).toBe(state);
  });
});

describe("the look at the end of a session", () => {
  function guarding() {
    const recorder = { path: join(folder, "s.jsonl"), append: () => Promise.reject(new Error("nothing is kept here")) };
    const guarded = [{ path: ".envrc", rule: "r", until: "call" as const }];
    return guardWorkspace({
      root,
      plan: { ...wholeWorkspace(root), guarded },
      hardlinks: BUILT_IN_POLICY.hardlinks,
      recorder,
    });
  }

  it("finds nothing in a folder that has come in the place of the workspace, and says so", async () => {
    const { begin, request } = guarding();
    await begin();
    await writeFile(join(root, ".envrc"), "of the session");
    expect((await request.appeared()).found.map(({ path }) => path)).toEqual([".envrc"]);

    await rename(root, join(folder, "elsewhere"));
    await mkdir(root);
    await writeFile(join(root, ".envrc"), "of the person");
    const problem = expect.stringContaining(`the workspace is no longer at \`${root}\``);
    expect(await request.appeared()).toEqual({ found: [], problem });
    const { folder: marked } = JSON.parse(await readFile(join(folder, "s.guard.json"), "utf8"));
    expect(await folderState(join(folder, "elsewhere"), marked)).toBe("same");
  });

  it("finds nothing before the session has begun", async () => {
    await writeFile(join(root, ".envrc"), "x");
    expect(await guarding().request.appeared()).toMatchObject({ found: [], problem: expect.any(String) });
  });
});
