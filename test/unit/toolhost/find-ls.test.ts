import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Outcome } from "../../../src/protocol/messages.ts";
import { handleLs } from "../../../src/toolhost/files/ls.ts";
import { handleFind } from "../../../src/toolhost/search/find.ts";
import type { ToolArgs } from "../../../src/tools/catalogue.ts";
import { text, Workspace, withoutRoot } from "./fixture.ts";

let ws: Workspace;
beforeEach(() => {
  ws = new Workspace();
});
afterEach(() => ws.remove());

const find = (pattern: string, options: Partial<ToolArgs<"find">> = {}) => ws.call(handleFind, { pattern, ...options });
const ls = (options: ToolArgs<"ls"> = {}) => ws.call(handleLs, options);
const put = async (files: Record<string, string>) => {
  for (const [name, content] of Object.entries(files)) await ws.put(name, content);
};

const ESCAPES =
  "[Escapes such as \\x1b or \\n in names stand for characters or bytes that cannot be shown; in bash quote them as $'a\\nb']";

describe("find", () => {
  test.each<[string, Partial<ToolArgs<"find">>, string]>([
    ["*.ts", {}, "src/a.ts\nsrc/deep/b.ts\ntop.ts"],
    ["*.ts", { path: "src" }, "src/a.ts\nsrc/deep/b.ts"],
    ["./*.ts", {}, "top.ts"],
    ["src/*.ts", {}, "src/a.ts"],
    ["src/**/*.ts", {}, "src/a.ts\nsrc/deep/b.ts"],
    ["**/deep/**", {}, "src/deep/b.ts"],
    ["src/", {}, "src/[id].js\nsrc/a.ts\nsrc/deep/b.ts"],
    ["{top,a}.ts", {}, "src/a.ts\ntop.ts"],
    ["src/[id].js", {}, "src/[id].js"],
    ["?op.ts", {}, "top.ts"],
    [".env*", {}, ".env.example"],
    ["-name", {}, "-name"],
    ["!not", {}, "!not"],
    ["/top.ts", {}, "top.ts"],
    ["nope", {}, "No files match `nope`"],
    ["deep", {}, "No files match `deep`; src/deep is a directory, use ls, or find with src/deep/**"],
    ["*", { path: "missing" }, "missing: no such file or directory"],
    ["*", { path: "top.ts" }, "`top.ts` is a file; `path` is the directory to search"],
    ["*", { path: "--help" }, "--help: no such file or directory"],
  ])("%s with %j", async (pattern, options, shown) => {
    await put({
      "top.ts": "",
      "src/a.ts": "",
      "src/deep/b.ts": "",
      "src/[id].js": "",
      ".env.example": "",
      "-name": "",
      "!not": "",
      ".git/x.ts": "",
    });
    expect(text(await find(pattern, options))).toBe(shown);
  });

  test("a pattern may be a whole path", async () => {
    await put({ "src/a.ts": "" });
    expect(text(await find(`${ws.root}/src/*.ts`))).toBe("src/a.ts");
  });

  describe("O-FIND-02: ignore rules", () => {
    test("of one directory hide nothing elsewhere", async () => {
      await put({ "venv/.gitignore": "*\n", "venv/x.py": "", "src/a.py": "" });
      expect(text(await find("**/*.py"))).toBe("src/a.py");
    });

    test("of other tools, and of folders above the workspace, hide nothing", async () => {
      await put({ ".ignore": "*\n", "../.gitignore": "*\n", "a.py": "" });
      expect(text(await find("*.py"))).toBe("a.py");
    });

    test.each(["dist/app.js", "app.js", "dist/*.js", "**/*.js"])("that hide all of %s are named", async (pattern) => {
      await put({ ".gitignore": "dist/\n", "dist/app.js": "" });
      expect(text(await find(pattern))).toBe(
        `No files match \`${pattern}\` outside of ignored files (.gitignore and the like). These ignored ones do; read opens them, bash (find, grep -r) searches all:\ndist/app.js`,
      );
    });
  });

  test("O-FIND-04: names that are not text are one entry each, and nothing after them is lost", async () => {
    strangeNames();
    const outcome = await find("*");
    expect(text(Outcome.parse(outcome))).toBe(
      [" lead", "--", "-rf", "\\x1b[31mred", "a\\nb", "caf\\xe9", "x;y", "z", ESCAPES].sort(byShown).join("\n"),
    );
  });

  test("a directory without permission is named, inside a tree and as the path", async () => {
    await put({ "closed/a.ts": "", "open/b.ts": "" });
    chmodSync(ws.path("closed"), 0);
    const [found, listed] = await withoutRoot(ws, async () => [
      await find("*.ts"),
      await find("*", { path: "closed" }),
    ]);
    expect(text(found)).toMatch(/^open\/b\.ts\n\[Not all could be listed: .*closed: Permission denied/);
    expect(text(listed)).toBe("closed: permission denied");
  });

  test("links are not followed out", async () => {
    await put({ "../outside/secret.txt": "", "in.txt": "" });
    symlinkSync("../outside", ws.path("out"));
    symlinkSync("..", ws.path("up"));
    expect(text(await find("*.txt"))).toBe("in.txt");
  });

  test("O-OUT-03: the limit tells how many there are", async () => {
    for (let at = 0; at < 30; at++) writeFileSync(ws.path(`f${String(at).padStart(2, "0")}`), "");
    const outcome = await find("f*", { limit: 2 });
    expect([text(outcome), outcome.truncated, outcome.details]).toEqual([
      "f00\nf01\n[First 2 of 30 files; narrow the pattern or path, or raise limit]",
      true,
      { matches: 30 },
    ]);
  });
});

describe("ls", () => {
  test("names, kinds, sizes and targets, hidden ones too, sorted by name", async () => {
    await put({ "b.txt": "12345", ".hidden": "", "Dir/x": "" });
    symlinkSync("b.txt", ws.path("good"));
    symlinkSync("Dir", ws.path("folder"));
    symlinkSync("nowhere", ws.path("broken"));
    execFileSync("mkfifo", [ws.path("pipe")]);
    expect(text(await ls())).toBe(
      "file\t0\t.hidden\ndir\t-\tDir/\nfile\t5\tb.txt\nlink\t-\tbroken -> nowhere (broken)\nlink\t-\tfolder -> Dir/\nlink\t-\tgood -> b.txt\nfifo\t-\tpipe",
    );
  });

  test("a link that leads nowhere or to itself is an entry, also when it is the path", async () => {
    symlinkSync("nowhere", ws.path("broken"));
    symlinkSync("loop", ws.path("loop"));
    expect(text(await ls())).toBe("link\t-\tbroken -> nowhere (broken)\nlink\t-\tloop -> loop (broken)");
    expect(text(await ls({ path: "loop" }))).toBe("link\t-\tloop -> loop (broken)");
  });

  test("a directory that may be listed and not entered shows its names", async () => {
    await put({ "d/f": "", "d/g": "" });
    chmodSync(ws.path("d"), 0o444);
    const listed = await withoutRoot(ws, () => ls({ path: "d" }));
    expect(text(listed)).toBe("?\t-\tf\n?\t-\tg\n[Of entries marked ? kind and size cannot be read here]");
  });

  test("what is above 50 KiB is told with what helps, which no limit does", async () => {
    for (let at = 0; at < 400; at++) writeFileSync(ws.path(`${at}`.padStart(200, "0")), "");
    const shown = text(await ls({ limit: 10_000 }));
    expect(shown.split("\n").at(-1)).toBe("[First 246 of 400 entries; use find with a pattern]");
  });

  test("O-FIND-04: names that are not text are one entry each", async () => {
    strangeNames();
    expect(text(Outcome.parse(await ls()))).toBe(
      ["\\x1b[31mred", " lead", "--", "-rf", "a\\nb", "caf\\xe9", "x;y", "z"]
        .map((name) => `file\t0\t${name}`)
        .concat(ESCAPES)
        .join("\n"),
    );
  });

  test.each<[ToolArgs<"ls">, string, string]>([
    [{ path: "-la" }, "failed", "-la: no such file or directory"],
    [{ path: "f" }, "ok", "file\t3\tf"],
    [{ path: "empty" }, "ok", "[The directory is empty]"],
    [{ path: "f/" }, "failed", "f/: a part of the path is not a directory"],
    [{ path: "" }, "failed", "The path is empty; name a file or directory, `.` is the workspace"],
  ])("%j", async (args, status, shown) => {
    await put({ f: "abc" });
    mkdirSync(ws.path("empty"));
    const outcome = await ls(args);
    expect([outcome.status, text(outcome)]).toEqual([status, shown]);
  });

  test("O-OUT-03: the limit keeps the first names and tells how many there are", async () => {
    for (let at = 0; at < 1500; at++) writeFileSync(ws.path(`f${String(1499 - at).padStart(4, "0")}`), "");
    const outcome = await ls({ limit: 2 });
    expect([text(outcome), outcome.truncated]).toEqual([
      "file\t0\tf0000\nfile\t0\tf0001\n[First 2 of 1500 entries; raise limit, or use find with a pattern]",
      true,
    ]);
  });
});

function strangeNames(): void {
  for (const name of ["a\nb", " lead", "--", "-rf", "x;y", "\u001b[31mred", "z"]) writeFileSync(ws.path(name), "");
  writeFileSync(Buffer.concat([Buffer.from(`${ws.root}/`), Buffer.from("caf\xe9", "latin1")]), "");
}

/** By the bytes of the names themselves: ESC is before the blank, though its escape is not. */
function byShown(a: string, b: string): number {
  const key = (name: string) => (name === ESCAPES ? "\uffff" : name.replace("\\x1b", "\u001b").replace("\\n", "\n"));
  return key(a) < key(b) ? -1 : 1;
}
