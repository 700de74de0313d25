import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { chmod, chown, link, lstat, readlink, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { handleEdit } from "../../../src/toolhost/files/edit.ts";
import { handleRead } from "../../../src/toolhost/files/read.ts";
import { handleWrite } from "../../../src/toolhost/files/write.ts";
import { programPath } from "../../support/programs.ts";
import { text, Workspace, whenRead, withoutRoot } from "./fixture.ts";

let ws: Workspace;
beforeEach(() => {
  ws = new Workspace();
});
afterEach(() => ws.remove());

type Edit = { oldText: string; newText: string };
const edit = (path: string, ...edits: Edit[]) => ws.call(handleEdit, { path, edits });
const swap = (oldText: string, newText: string): Edit => ({ oldText, newText });

test("the result has a one-line summary for the model and a unified diff for people", async () => {
  await ws.put("f", "one\ntwo\nthree\n");
  expect(await edit("f", swap("two", "2\n2b"))).toEqual({
    status: "ok",
    content: [{ type: "text", text: "Edited f: 1 replacement, +2 -1 lines" }],
    details: {
      path: ws.path("f"),
      bytes: 15,
      lines: 4,
      added: 2,
      removed: 1,
      diff: "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2b\n three\n",
    },
  });
});

test.each([["$&"], ["$$ $` $' $1 $0 $<x>"], ["\\0 \\1 \\n"]])(
  "O-EDIT-01: %s in the new text is literal",
  async (special) => {
    await ws.put("a.js", 'log("done");\n');
    await edit("a.js", swap('log("done");', `log("${special}");`));
    expect(await ws.bytes("a.js")).toBe(`log("${special}");\n`);
  },
);

describe("O-EDIT-06: changes of one file that are made at once", () => {
  test("all edits survive, in the order of the calls", async () => {
    await ws.put("n", Array.from({ length: 100 }, (_, at) => `${at + 1}\n`).join(""));
    await symlink("n", ws.path("same"));
    const outcomes = await Promise.all([
      edit("n", swap("50\n", "FIFTY\n")),
      edit("./n", swap("75\n", "SEVENTYFIVE\n")),
      edit("same", swap("\n99\n", "\nNINETYNINE\n")),
      ws.call(handleWrite, { path: "n2", content: "fresh\n" }),
      edit("n", swap("FIFTY", "fifty")),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
    const lines = (await ws.bytes("n")).split("\n");
    expect([lines[49], lines[74], lines[98], lines.length]).toEqual(["fifty", "SEVENTYFIVE", "NINETYNINE", 101]);
  });

  test("a failed edit does not stop the next one", async () => {
    await ws.put("n", "a\n");
    const [first, second] = await Promise.all([edit("n", swap("zzzz", "b")), edit("n", swap("a", "b"))]);
    expect([first.status, second.status, await ws.bytes("n")]).toEqual(["failed", "ok", "b\n"]);
  });
});

describe("O-EDIT-07: what a file is stays", () => {
  test.each([0o755, 0o600, 0o4755, 0o444])("mode %o", async (mode) => {
    const path = await ws.put("s.sh", "#!/bin/sh\necho a\n");
    await chmod(path, mode);
    const outcome = await edit("s.sh", swap("echo a", "echo b"));
    const writable = (mode & 0o200) !== 0 || process.getuid?.() === 0;
    expect([outcome.status, (await stat(path)).mode & 0o7777]).toEqual([writable ? "ok" : "failed", mode]);
    if (mode === 0o755) expect(execFileSync(path, { encoding: "utf8" })).toBe("b\n");
    expect(await ws.leftovers()).toEqual([]);
  });

  test("a symbolic link stays one and its target changes", async () => {
    await ws.put("d/real.txt", "a\n");
    await symlink("d/real.txt", ws.path("link.txt"));
    await symlink(ws.path("link.txt"), ws.path("link2.txt"));
    expect((await edit("link2.txt", swap("a", "b"))).status).toBe("ok");
    expect([await readlink(ws.path("link.txt")), await ws.bytes("d/real.txt")]).toEqual(["d/real.txt", "b\n"]);
    expect((await lstat(ws.path("link2.txt"))).isSymbolicLink()).toBe(true);
  });

  test.skipIf(process.getuid?.() !== 0)("the owner (only root can give files away)", async () => {
    const path = await ws.put("f", "a\n");
    await chown(path, 1234, 2345);
    expect((await edit("f", swap("a", "b"))).status).toBe("ok");
    const { uid, gid } = await stat(path);
    expect([uid, gid, await ws.bytes("f")]).toEqual([1234, 2345, "b\n"]);
  });

  test("a file in a directory without write permission", async () => {
    const path = await ws.put("ro/f", "a longer line\n");
    const { ino } = await stat(path);
    await chmod(ws.path("ro"), 0o555);
    const edited = await withoutRoot(ws, () => edit("ro/f", swap("a longer line", "b")));
    expect(edited.status).toBe("ok");
    await chmod(ws.path("ro"), 0o755);
    expect([(await stat(path)).ino, await ws.bytes("ro/f")]).toEqual([ino, "b\n"]);
  });
});

describe("a file changed since the model last read it", () => {
  test("is refused until it is read again", async () => {
    const path = await ws.put("f", "a\nb\n");
    await ws.call(handleRead, { path: "f" });
    await writeFile(path, "a\nB\n");
    expect(text(await edit("f", swap("a", "x")))).toBe(
      "`f` changed since you last read it; nothing was changed. Read it again, then edit",
    );
    expect(await ws.bytes("f")).toBe("a\nB\n");
    await ws.call(handleRead, { path: "f", limit: 1 });
    expect((await edit("f", swap("a", "x"))).status).toBe("ok");
    expect((await edit("f", swap("B", "y"))).status).toBe("ok");
  });

  test("is noticed through another name, and after a write", async () => {
    await ws.call(handleWrite, { path: "f", content: "a\n" });
    await symlink("f", ws.path("l"));
    await writeFile(ws.path("f"), "a\n\n");
    expect((await edit("l", swap("a", "x"))).status).toBe("failed");
  });

  test("by a background job in the middle of the edit: what the job wrote stays", async () => {
    const path = await ws.put("f", "a\n");
    ws.host.seen = whenRead(() => appendFileSync(path, "by the job\n"));
    expect(text(await edit("f", swap("a", "b")))).toBe(
      "`f` was changed by something else during the edit; nothing was changed by it. Read it again, then edit",
    );
    expect(await ws.bytes("f")).toBe("a\nby the job\n");
  });

  test("is not missed when it was never read", async () => {
    await ws.put("f", "a\n");
    expect((await edit("f", swap("a", "x"))).status).toBe("ok");
  });
});

describe("what is no text to edit is refused by name", () => {
  test.each<[string, (path: string) => Promise<unknown> | unknown, string]>([
    ["nothing there", () => undefined, "f: no such file or directory"],
    ["a FIFO", (path) => execFileSync("mkfifo", [path]), "`f` is a FIFO, not a regular file"],
    ["a directory", (path) => execFileSync("mkdir", [path]), "`f` is a directory, not a regular file; use ls"],
    [
      "a picture",
      (path) => writeFile(path, Buffer.from("89504e470d0a1a0a0000", "hex")),
      "`f` is binary (image/png); edit changes text only",
    ],
    ["a binary", (path) => writeFile(path, "a\0b"), "`f` is binary (binary data); edit changes text only"],
    [
      "11 MiB",
      (path) => writeFile(path, "a").then(() => truncate(path, 11 * 1024 * 1024)),
      "`f` has 11.0 MiB; edit takes at most 10.0 MiB, use bash (sed) for larger files",
    ],
    ["a loop of links", (path) => symlink("f", path), "f: too many symbolic links"],
  ])("%s", async (_, make, words) => {
    await make(ws.path("f"));
    const outcome = await edit("f", swap("a", "b"));
    expect([outcome.status, text(outcome)]).toEqual(["failed", words]);
  });

  test("a second name of a file keeps the old content", async () => {
    await ws.put("f", "a\n");
    await link(ws.path("f"), ws.path("g"));
    const said = text(await edit("f", swap("a", "b")));
    expect([await ws.bytes("f"), await ws.bytes("g")]).toEqual(["b\n", "a\n"]);
    expect(said).toBe("Edited f: 1 replacement, +1 -1 lines; its other name (a hard link) keeps the old content");
    await link(ws.path("g"), ws.path("h"));
    await link(ws.path("g"), ws.path("i"));
    expect(text(await ws.call(handleWrite, { path: "g", content: "c\n" }))).toBe(
      "Replaced g: 1 line, 2 bytes; its 2 other names (hard links) keep the old content",
    );
    expect(await ws.bytes("h")).toBe("a\n");
  });
});

describe("the lines an edit changed", () => {
  const file = (change: (at: number) => boolean) =>
    Array.from({ length: 1000 }, (_, at) => (change(at) ? `line ${at}: new\n` : `line ${at}: old\n`)).join("");

  test("are counted and shown one by one, however many and scattered they are", async () => {
    await ws.put(
      "f",
      file(() => false),
    );
    const edits = Array.from({ length: 250 }, (_, at) => swap(`line ${at * 4}: old`, `line ${at * 4}: new`));
    const { details } = await edit("f", ...edits);
    expect(await ws.bytes("f")).toBe(file((at) => at % 4 === 0));
    const { added, removed, diff = "" } = details;
    expect([added, removed, diff.match(/^\+line/gm)?.length, diff.match(/^-line/gm)?.length]).toEqual([
      250, 250, 250, 250,
    ]);
  });

  test("are those git takes, where edits join, split and touch lines", async () => {
    const before = "a\nb\nc\nd\ne\nf\ng";
    await ws.put("f", before);
    const outcome = await edit("f", swap("a\nb", "A"), swap("\nc", "c"), swap("e", "e1\ne2"), swap("g", "g\n"));
    execFileSync(programPath("git"), ["apply", "-R", "-"], { cwd: ws.root, input: outcome.details.diff, env: {} });
    expect(await ws.bytes("f")).toBe(before);
  });

  test("are counted where the diff is cut", async () => {
    await ws.put("f", "x\n".repeat(3000));
    const { details } = await ws.call(handleWrite, { path: "f", content: "y\n".repeat(3000) });
    expect([details.added, details.removed]).toEqual([3000, 3000]);
  });

  test("of 100,000 characters are shown around what changed", async () => {
    const before = `${"a;".repeat(50_000)}needle${"b;".repeat(50_000)}`;
    await ws.put("f", `${before}\n`);
    const { details } = await edit("f", swap("needle", "pin"));
    expect([details.added, details.removed]).toEqual([1, 1]);
    expect(details.diff).toMatch(/^-\(\d+ characters\) …[a;]+needle[b;]+… \(\d+ more characters\)$/m);
    expect(details.diff).toMatch(/^\+\(\d+ characters\) …[a;]+pin[b;]+… \(\d+ more characters\)$/m);
  });
});

test("a cancelled edit changes nothing", async () => {
  await ws.put("f", "a\n");
  ws.abort.abort();
  expect([(await edit("f", swap("a", "b"))).status, await ws.bytes("f")]).toEqual(["cancelled", "a\n"]);
});
