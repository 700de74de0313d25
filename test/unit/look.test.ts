import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { matchesPath } from "../../src/core/path-rules.ts";
import { findMatches, lookAt } from "../../src/workspace/look.ts";

let root = "";
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "glovebox-look-")));
  for (const path of [
    "a/b/.env",
    "a/.env",
    ".env",
    "a/b/c.pem",
    "c.pem",
    "node_modules/x/.env/y",
    "strange/n\newline",
  ]) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), "");
  }
  await symlink("a", join(root, "link"));
  await symlink("/etc/passwd", join(root, "a/out.pem"));
  await symlink("nowhere", join(root, "dangling"));
});
afterAll(() => rm(root, { recursive: true }));

const paths = async (pattern: string) =>
  ((await findMatches(root, [pattern], 100)).matches.get(pattern) ?? [])
    .map(({ path, kind }) => `${kind} ${path}`)
    .toSorted();

describe("what a pattern finds", () => {
  it.each<[string, string[]]>([
    ["**/.env", ["file .env", "file a/.env", "file a/b/.env", "folder node_modules/x/.env"]],
    ["*.pem", ["file c.pem"]],
    ["a/*", ["file a/.env", "folder a/b", "link a/out.pem"]],
    ["a/**", ["file a/.env", "folder a/b", "link a/out.pem"]],
    ["**/b/*.pem", ["file a/b/c.pem"]],
    ["a/**/c.pem", ["file a/b/c.pem"]],
    ["?.pem", ["file c.pem"]],
    ["strange/*", ["file strange/n\newline"]],
    ["nothing/*", []],
  ])("%s", async (pattern, expected) => {
    expect(await paths(pattern)).toEqual(expected);
  });

  it("FS-40 is never behind a link to a folder", async () => {
    expect(await paths("link/*")).toEqual([]);
    expect(await paths("*/b/.env")).toEqual(["file a/b/.env"]);
  });

  it("is what the rule says of each path", async () => {
    for (const pattern of ["**/.env", "a/*", "a/**", "**/b/**", "*"]) {
      for (const match of (await findMatches(root, [pattern], 100)).matches.get(pattern) ?? []) {
        expect(matchesPath(pattern, match.path), `${pattern} ${match.path}`).toBe(true);
      }
    }
  });

  it("is named where it is too much, and the rest is found", async () => {
    const { matches, misfits } = await findMatches(root, ["**/.env", "*.pem"], 2);
    expect(misfits).toEqual([{ pattern: "**/.env", why: "means more than 2 paths" }]);
    expect([matches.get("**/.env")?.length, matches.get("*.pem")]).toEqual([2, [{ path: "c.pem", kind: "file" }]]);
  });

  it("is found beside and behind names that are not UTF-8, and named where it cannot be told to an engine", async () => {
    const bytes = (...parts: (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));
    const odd = Buffer.from([0x63, 0xe9]);
    await mkdir(join(root, "bytes"));
    await mkdir(bytes(join(root, "bytes"), "/", odd));
    await writeFile(bytes(join(root, "bytes"), "/", odd, "/.env"), "");
    await writeFile(bytes(join(root, "bytes"), "/", odd, ".txt"), "");
    await writeFile(join(root, "bytes/.env"), "");
    const { matches, misfits } = await findMatches(root, ["bytes/**/.env", "bytes/*.txt"], 100);
    expect(matches.get("bytes/**/.env")).toEqual([{ path: "bytes/.env", kind: "file" }]);
    expect(misfits.map(({ pattern, why }) => [pattern, why])).toEqual([
      ["bytes/**/.env", expect.stringContaining("a name that is not valid UTF-8")],
      ["bytes/*.txt", expect.stringContaining("a name that is not valid UTF-8")],
    ]);
    expect((await findMatches(root, ["bytes/*/*.pem"], 100)).misfits).toEqual([]);
  });
});

describe("what is at a path", () => {
  it.each([
    [".", "folder"],
    ["a/b/c.pem", "file"],
    ["a/missing/x", "absent"],
    ["c.pem/x", "absent"],
    ["link", "link"],
    ["link/.env", "link"],
    ["dangling", "link"],
  ])("%s is %s", async (path, kind) => {
    expect((await lookAt(root, [path])).get(path)).toBe(kind);
  });
});

describe("a rule that names paths", () => {
  it.each<[string, string, boolean]>([
    ["a", "a/b", true],
    ["a", "ab", false],
    ["**/.env", ".env", true],
    ["**/.env", "x/y/.env", true],
    ["**/.env", "x/.env.js", false],
    ["a/**", "a", false],
    ["a/**", "a/b/c", true],
    ["**/**/x", "x", true],
    ["a/*/c", "a/b/c/d", true],
    ["*", "a", true],
    [".", "a", true],
  ])("%s and %s", (rule, path, expected) => {
    expect(matchesPath(rule, path)).toBe(expected);
  });

  it("takes no longer for many wildcards", () => {
    const rule = Array.from({ length: 8 }, () => "**/*a*").join("/");
    expect(matchesPath(`${rule}/end`, Array.from({ length: 400 }, () => "aaaaaaaaaaaaaaaaab").join("/"))).toBe(false);
  });
});
