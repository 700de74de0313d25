import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { chmod, lstat, readlink, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { handleWrite } from "../../../src/toolhost/files/write.ts";
import { SmallDisk } from "../../support/small-disk.ts";
import { text, Workspace, withoutRoot } from "./fixture.ts";

let ws: Workspace;
beforeEach(() => {
  ws = new Workspace();
});
afterEach(() => ws.remove());

const write = (path: string, content: string) => ws.call(handleWrite, { path, content });

test("a new file is created with its parents, and the diff is all of it", async () => {
  expect(await write("a/b/c.txt", "x\ny")).toEqual({
    status: "ok",
    content: [{ type: "text", text: "Created a/b/c.txt: 2 lines, 3 bytes" }],
    details: {
      path: ws.path("a/b/c.txt"),
      bytes: 3,
      lines: 2,
      added: 2,
      removed: 0,
      diff: "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n",
    },
  });
  expect(await ws.bytes("a/b/c.txt")).toBe("x\ny");
});

test("a new folder below /proc is an answer at once, where Node's own recursive mkdir tries for ever", async () => {
  const refused = await ws.call(handleWrite, { path: "/proc/self/fd/folder/new.txt", content: "x" });
  expect([refused.status, text(refused)]).toEqual(["failed", expect.stringContaining("/proc")]);
});

test("an old file is replaced, and the diff says how", async () => {
  await ws.put("f", "a\nb\n");
  expect(await write("f", "a\nc\n")).toEqual({
    status: "ok",
    content: [{ type: "text", text: "Replaced f: 2 lines, 4 bytes" }],
    details: {
      path: ws.path("f"),
      bytes: 4,
      lines: 2,
      added: 1,
      removed: 1,
      diff: "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
    },
  });
});

test.each<[string, string, string]>([
  ["nothing", "", ""],
  ["CRLF and a lone CR", "a\r\nb\rc", "a\r\nb\rc"],
  ["a byte order mark", "\ufeffa", "\xef\xbb\xbfa"],
  ["NUL and ESC", "a\0\u001b[m", "a\0\u001b[m"],
  ["four byte characters", "🚀", "\xf0\x9f\x9a\x80"],
])("%s is written byte for byte", async (_, content, bytes) => {
  await write("f", content);
  expect(await ws.bytes("f")).toBe(bytes);
});

test("the same content again says so", async () => {
  await ws.put("f", "a\n");
  expect(text(await write("f", "a\n"))).toBe("Replaced f: 1 line, 2 bytes; the content is the same as before");
});

test("O-OUT-01: half a surrogate pair is refused, nothing is written and no parent made", async () => {
  expect(text(await write("new/f", `${"a".repeat(9)}\ud83d`))).toBe(
    "`content` holds half of a surrogate pair, which no UTF-8 file can hold; nothing was written",
  );
  expect(() => lstatSync(ws.path("new"))).toThrow();
});

describe("O-EDIT-07: what a file is stays", () => {
  test.each([0o755, 0o600, 0o640])("mode %o", async (mode) => {
    const path = await ws.put("f", "old");
    await chmod(path, mode);
    await write("f", "new");
    expect([(await stat(path)).mode & 0o7777, await ws.bytes("f"), await ws.leftovers()]).toEqual([mode, "new", []]);
  });

  test("a new file follows the umask", async () => {
    await write("f", "new");
    expect((await stat(ws.path("f"))).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  test.each([
    ["a file", true],
    ["nothing yet", false],
  ])("a symbolic link to %s stays one", async (_, there) => {
    if (there) await ws.put("d/real", "old");
    await symlink("d/real", ws.path("l"));
    expect((await write("l", "new")).status).toBe("ok");
    expect([await readlink(ws.path("l")), await ws.bytes("d/real"), (await lstat(ws.path("d/real"))).isFile()]).toEqual(
      ["d/real", "new", true],
    );
  });

  test("a file whose mode forbids writing is not replaced, and the mode is named", async () => {
    const path = await ws.put("f", "old");
    await chmod(path, 0o444);
    const refused = await withoutRoot(ws, () => write("f", "new"));
    expect([text(refused), await ws.bytes("f"), await ws.leftovers()]).toEqual([
      "`f`: its mode (0444) forbids writing; nothing was changed. If the change is meant, run chmod u+w on it in bash first",
      "old",
      [],
    ]);
  });

  test.skipIf(process.getuid?.() !== 0)("a mounted file is written in place (only root can mount)", async () => {
    const source = await ws.put("source", "a longer old text");
    const target = await ws.put("conf.yml", "");
    const { ino } = await stat(source);
    execFileSync("mount", ["--bind", source, target]);
    try {
      expect((await write("conf.yml", "new")).status).toBe("ok");
      expect([await ws.bytes("source"), (await stat(target)).ino, await ws.leftovers()]).toEqual(["new", ino, []]);
      execFileSync("mount", ["-o", "remount,bind,ro", target]);
      const denied = await write("conf.yml", "newer");
      expect([denied.status, await ws.bytes("source"), await ws.leftovers()]).toEqual(["denied", "new", []]);
    } finally {
      execFileSync("umount", [target]);
    }
  });

  test.skipIf(process.getuid?.() !== 0)(
    "a writable file in a read-only mount is written in place (only root can mount)",
    async () => {
      await ws.put("ro/f", "old");
      await ws.put("ro/g", "old");
      const file = await ws.put("file", "old");
      execFileSync("mount", ["--bind", ws.path("ro"), ws.path("ro")]);
      try {
        execFileSync("mount", ["-o", "remount,bind,ro", ws.path("ro")]);
        execFileSync("mount", ["--bind", file, ws.path("ro/f")]);
        expect([(await write("ro/f", "new")).status, await ws.bytes("file")]).toEqual(["ok", "new"]);
        expect([(await write("ro/g", "new")).status, await ws.bytes("ro/g")]).toEqual(["denied", "old"]);
        expect((await write("ro/h", "new")).status).toBe("denied");
        execFileSync("umount", [ws.path("ro/f")]);
      } finally {
        execFileSync("umount", [ws.path("ro")]);
      }
    },
  );
});

describe.skipIf(process.getuid?.() !== 0)("a full disk keeps the old content (only root can mount)", () => {
  const OLD = "old\n".repeat(1000);

  test("of a file that is replaced", async () => {
    await using disk = await SmallDisk.create();
    const path = join(disk.path, "f");
    writeFileSync(path, OLD);
    disk.fill();
    expect(text(await write(path, "x".repeat(100_000)))).toBe(`${path}: no space left on the device`);
    expect([readFileSync(path, "utf8"), readdirSync(disk.path).toSorted()]).toEqual([OLD, ["f", "filler"]]);
  });

  test("of a mounted file that is written in place, and a shorter one fits", async () => {
    await using disk = await SmallDisk.create();
    const source = join(disk.path, "f");
    writeFileSync(source, OLD);
    disk.fill();
    const target = await ws.put("f", "");
    execFileSync("mount", ["--bind", source, target]);
    try {
      expect(text(await write("f", "x".repeat(100_000)))).toBe("f: no space left on the device");
      expect([readFileSync(source, "utf8"), await ws.leftovers()]).toEqual([OLD, []]);
      expect([(await write("f", "new")).status, readFileSync(source, "utf8")]).toEqual(["ok", "new"]);
    } finally {
      execFileSync("umount", [target]);
    }
  });
});

describe("what cannot be written is refused by name, and leaves nothing behind", () => {
  test.each<[string, string, string]>([
    ["a directory", "d", "`d` is a directory, not a regular file; use ls"],
    ["a name that is a directory's", "new/", "`new/` names a directory; add a file name"],
    ["a file for a parent", "f/x", "f/x: a part of the path is not a directory"],
    ["a FIFO", "p", "`p` is a FIFO, not a regular file"],
    ["a device", "/dev/null", "`/dev/null` is a device, not a regular file"],
    ["an empty path", "", "The path is empty; name a file or directory, `.` is the workspace"],
    ["a NUL in the path", "a\0b", "`a\\x00b`: a path cannot hold a NUL character"],
    ["half a surrogate pair in the path", "a\ud83d", "`a\\ud83d`: the path holds half of a surrogate pair"],
    ["a name too long", "n".repeat(300), `${"n".repeat(300)}: the name is too long`],
    ["a path too long", "d/".repeat(3000), "The path has 6000 bytes; at most 4095 are possible"],
    ["a loop of links", "loop", "loop: too many symbolic links"],
  ])("%s", async (_, path, words) => {
    await ws.put("f", "");
    await ws.put("d/x", "");
    await symlink("loop", ws.path("loop"));
    execFileSync("mkfifo", [ws.path("p")]);
    const outcome = await write(path, "x");
    expect([outcome.status, text(outcome), await ws.leftovers(), await ws.leftovers("d")]).toEqual([
      "failed",
      words,
      [],
      [],
    ]);
  });

  test("the longest possible name can be written", async () => {
    const name = "n".repeat(255);
    await write(name, "a");
    expect([(await write(name, "b")).status, await ws.bytes(name)]).toEqual(["ok", "b"]);
  });
});

test("paths begin at the workspace, at the home or at the root", async () => {
  await write("in", "1");
  await write("~/home", "2");
  await write(`${ws.base}/abs`, "3");
  await write("-rf", "4");
  expect([
    await ws.bytes("in"),
    await ws.bytes("../home/home"),
    await ws.bytes("../abs"),
    await ws.bytes("-rf"),
  ]).toEqual(["1", "2", "3", "4"]);
});

test("twenty writes of one file at once leave one of them whole", async () => {
  const contents = Array.from({ length: 20 }, (_, at) => `${at}`.repeat(100_000));
  await Promise.all(contents.map((content) => write("f", content)));
  expect([await ws.bytes("f"), await ws.leftovers()]).toEqual([contents[19], []]);
});

test("a large rewrite has a diff that is cut and says so", async () => {
  await write("f", "a\n".repeat(200_000));
  const { details } = await write("f", "b\n".repeat(200_000));
  expect(details.diff?.length).toBeLessThan(66_000);
  expect(details.diff?.split("\n").at(-2)).toBe("… 398001 more lines of diff");
});

test("all lines of a new file are counted, also those its diff leaves out", async () => {
  for (const lines of [3000, 1_000_000]) {
    const { details } = await write(`f${lines}`, "a\n".repeat(lines));
    expect([details.added, details.removed, details.diff?.startsWith("--- /dev/null\n")]).toEqual([lines, 0, true]);
  }
});

test("a cancelled write changes nothing", async () => {
  ws.abort.abort();
  expect([(await write("f", "a")).status, await ws.leftovers()]).toEqual(["cancelled", []]);
});
