import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pack } from "tar-stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { foldersToProtect, scanLinks } from "../../../src/toolhost/guard/links.ts";
import { KEPT, listItem } from "../../../src/toolhost/guard/listing.ts";
import { placeOf } from "../../../src/toolhost/guard/move-out.ts";
import { packListing } from "../../../src/toolhost/guard/pack.ts";
import { removeItem } from "../../../src/toolhost/guard/remove.ts";
import { restore } from "../../../src/toolhost/guard/restore.ts";
import { Workspace, withoutRoot } from "./fixture.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace.remove());

describe("the folders to protect for files with names outside", () => {
  const numbered = (count: number, path: (index: number) => string): string[] =>
    Array.from({ length: count }, (_, index) => path(index));
  const CASES: [string, string[], string[]][] = [
    ["nothing", [], []],
    ["one file", ["src/a/x.c"], ["src/a"]],
    ["a file at the top is itself", ["x.c", "src/a/y.c"], ["src/a", "x.c"]],
    [
      "an installed tree of packages",
      numbered(900, (n) => `node_modules/.store/p${n}@1/lib/i.js`),
      ["node_modules/.store"],
    ],
    [
      "an environment of few packages",
      numbered(9, (n) => `.venv/lib/python3/site/p${n % 3}/m${n}.py`),
      [".venv/lib/python3/site/p0", ".venv/lib/python3/site/p1", ".venv/lib/python3/site/p2"],
    ],
    ["a copy by links of a whole tree", numbered(200, (n) => `d${n}/x`), ["."]],
    ["two deep trees", [...numbered(99, (n) => `a/b/c${n}/x`), "z/y/x/w"], ["a/b", "z/y"]],
    ["a folder in another", ["a/x", "a/b/y"], ["a"]],
  ];

  it.each(CASES)("are few and deep: %s", (_, files, folders) => {
    expect(foldersToProtect(files)).toEqual(folders);
  });
});

describe("a scan for files with names outside", () => {
  it("finds those, and none whose names are all inside, read-only or links", async () => {
    const outside = join(workspace.base, "store");
    writeFileSync(outside, "x");
    for (const folder of ["a/b", "closed", "c"]) mkdirSync(workspace.path(folder), { recursive: true });
    linkSync(outside, workspace.path("a/b/linked"));
    linkSync(outside, workspace.path("closed/linked"));
    await workspace.put("c/twice", "y");
    linkSync(workspace.path("c/twice"), workspace.path("a/twice"));
    symlinkSync(outside, workspace.path("c/symbolic"));
    symlinkSync(workspace.base, workspace.path("c/up"));
    expect(await scanLinks(workspace.root, ["closed"])).toEqual({ files: ["a/b/linked"], skipped: 0, complete: true });
  });

  it("says that it is not complete, and takes a name it did not see for outside", async () => {
    for (let index = 0; index < 10; index++) await workspace.put(`f${index}`, "x");
    linkSync(workspace.path("f0"), workspace.path("g0"));
    const { files, complete } = await scanLinks(workspace.root, [], 5);
    expect([complete, files.length <= 1]).toEqual([false, true]);
  });

  it("counts a file whose name is no text", async () => {
    execFileSync("bash", ["-c", "printf x > $'bad\\xff'"], { cwd: workspace.root });
    expect(await scanLinks(workspace.root, [])).toEqual({ files: [], skipped: 1, complete: true });
  });
});

async function archived(path: string, limits = KEPT): Promise<{ archive: Buffer; cut: string[] }> {
  const listing = listItem(workspace.root, path, limits, true);
  const chunks: Buffer[] = [];
  for await (const chunk of packListing(workspace.root, listing)) chunks.push(chunk);
  return { archive: Buffer.concat(chunks), cut: listing.cut };
}

describe("a packed item", () => {
  it("is the same when it has been removed and brought back", async () => {
    await workspace.put(".tool/a/long ".concat("x".repeat(120), "/é\n.txt"), "text\n");
    await workspace.put(".tool/run", "#!/bin/sh\n");
    chmodSync(workspace.path(".tool/run"), 0o750);
    symlinkSync("run", workspace.path(".tool/link"));
    chmodSync(workspace.path(".tool/a"), 0o555);
    const { archive, cut } = await archived(".tool");
    await removeItem(workspace.path(".tool"));
    expect([cut, existsSync(workspace.path(".tool"))]).toEqual([[], false]);

    await restore(workspace.root, ".tool", Readable.from([archive]));
    expect(readFileSync(workspace.path(`.tool/a/long ${"x".repeat(120)}/é\n.txt`), "utf8")).toBe("text\n");
    expect(readlinkSync(workspace.path(".tool/link"))).toBe("run");
    const modes = await Promise.all(
      [".tool/run", ".tool/a"].map(async (path) => (await lstat(workspace.path(path))).mode),
    );
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o750, 0o555]);
    chmodSync(workspace.path(".tool/a"), 0o755);
  });

  it("leaves out what is too large, and says so", async () => {
    await workspace.put("d/large", "x".repeat(2000));
    await workspace.put("d/small", "x");
    const { archive, cut } = await archived("d", { ...KEPT, fileBytes: 1000 });
    expect(cut).toEqual(["`d/large` (2.0 KiB)"]);
    expect(archive.includes("d/small")).toBe(true);
    expect(archive.includes("d/large")).toBe(false);
  });

  it("has no more entries than that", async () => {
    for (let index = 0; index < 10; index++) await workspace.put(`d/f${index}`, "x");
    expect(listItem(workspace.root, "d", { ...KEPT, entries: 4 }, true)).toMatchObject({
      entries: { length: 4 },
      cut: ["all but 4 entries"],
    });
  });

  it("is read and removed although it is closed to everybody", () =>
    withoutRoot(workspace, async () => {
      mkdirSync(workspace.path("d/inner"), { recursive: true });
      writeFileSync(workspace.path("d/inner/f"), "kept");
      for (const path of ["d/inner/f", "d/inner", "d"]) chmodSync(workspace.path(path), 0);
      expect((await archived("d")).archive.includes("kept")).toBe(true);
      await removeItem(workspace.path("d"));
      expect(existsSync(workspace.path("d"))).toBe(false);
    }));

  it("is removed however deep it is", async () => {
    const script = 'for i in $(seq 60); do mkdir "$0" && cd "$0" || exit 1; done; touch bottom';
    execFileSync("bash", ["-c", script, "n".repeat(100)], { cwd: workspace.root });
    await removeItem(workspace.path("n".repeat(100)));
    expect(existsSync(workspace.path("n".repeat(100)))).toBe(false);
  });
});

describe("an archive to be brought back", () => {
  type Item = { name: string; type?: "file" | "symlink" | "link" | "fifo" | "directory"; linkname?: string };
  async function bring(...items: Item[]): Promise<void> {
    const tar = pack();
    for (const { type = "file", ...item } of items) tar.entry({ ...item, type }, type === "file" ? "evil" : "");
    tar.finalize();
    const chunks: Buffer[] = [];
    for await (const chunk of tar) chunks.push(chunk as Buffer);
    await restore(workspace.root, "d", Readable.from([Buffer.concat(chunks)]));
  }
  const FOLDER: Item = { name: "d", type: "directory" };
  const HOSTILE: [string, Item[]][] = [
    ["an absolute name", [{ name: "/tmp/evil" }]],
    ["a name that leaves the item", [FOLDER, { name: "d/../evil" }]],
    ["a name beside the item", [{ name: "evil" }]],
    ["a symbolic link out of the item", [FOLDER, { name: "d/l", type: "symlink", linkname: "../evil" }]],
    ["an absolute symbolic link", [FOLDER, { name: "d/l", type: "symlink", linkname: "/etc" }]],
    ["a name behind a link", [FOLDER, { name: "d/l", type: "symlink", linkname: "." }, { name: "d/l/evil" }]],
    ["a hard link", [FOLDER, { name: "d/l", type: "link", linkname: "../evil" }]],
    ["a FIFO", [FOLDER, { name: "d/pipe", type: "fifo" }]],
    ["one name twice", [FOLDER, { name: "d/a" }, { name: "d/a" }]],
  ];

  it.each(HOSTILE)("is refused with %s, and nothing of it stays", async (_, items) => {
    await workspace.put("evil", "mine");
    await expect(bring(...items)).rejects.toThrow();
    expect(existsSync(workspace.path("d"))).toBe(false);
    expect(readFileSync(workspace.path("evil"), "utf8")).toBe("mine");
  });

  it("is brought back without any of that", async () => {
    await bring(FOLDER, { name: "d/a" }, { name: "d/l", type: "symlink", linkname: "a" });
    expect(readFileSync(workspace.path("d/l"), "utf8")).toBe("evil");
  });

  it("replaces nothing, and follows no link on the way", async () => {
    await workspace.put("d", "mine");
    await expect(bring({ name: "d" })).rejects.toThrow("exists");
    expect(readFileSync(workspace.path("d"), "utf8")).toBe("mine");
    symlinkSync(workspace.base, workspace.path("up"));
    await expect(restore(workspace.root, "up/d", Readable.from([]))).rejects.toThrow("is a link or a file");
  });
});

describe("the place of what appeared", () => {
  it("is the first symbolic link on the way, also one to nothing", async () => {
    await workspace.put("real/b", "x");
    symlinkSync("nowhere", workspace.path("dangling"));
    symlinkSync("real", workspace.path("link"));
    const paths = ["real/b", "real/c", "absent/b", "real/b/c", "dangling/b", "link/b", "link"];
    expect(paths.map((path) => placeOf(workspace.root, path))).toEqual([
      ...["real/b", undefined, undefined, undefined],
      ...["dangling", "link", "link"],
    ]);
  });
});
