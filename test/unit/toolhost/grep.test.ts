import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { handleGrep } from "../../../src/toolhost/search/grep.ts";
import type { ToolArgs } from "../../../src/tools/catalogue.ts";
import { text, Workspace, withoutRoot } from "./fixture.ts";

let ws: Workspace;
beforeEach(() => {
  ws = new Workspace();
});
afterEach(() => ws.remove());

const grep = (pattern: string, options: Partial<ToolArgs<"grep">> = {}) => ws.call(handleGrep, { pattern, ...options });
const put = async (files: Record<string, string>) => {
  for (const [name, content] of Object.entries(files)) await ws.put(name, content);
};

describe("grep", () => {
  test("shows file, line and text in the order of paths", async () => {
    await put({ "b.txt": "no\nyes 1\n", "a/z.txt": "yes 2\r\n", "a.txt": "yes 3" });
    expect(await grep("yes")).toEqual({
      status: "ok",
      content: [{ type: "text", text: "a/z.txt:1:yes 2\na.txt:1:yes 3\nb.txt:2:yes 1" }],
      details: { matches: 3 },
    });
  });

  test.each<[string, Partial<ToolArgs<"grep">>, string]>([
    ["ON", { ignoreCase: true }, "src/a.ts:1:one"],
    ["one", { path: "src" }, "src/a.ts:1:one"],
    ["one", { path: "src/a.ts" }, "src/a.ts:1:one"],
    ["one", { path: "./src/" }, "src/a.ts:1:one"],
    ["a.b", { literal: true }, "src/b.md:2:a.b"],
    ["[", { literal: true }, "src/b.md:4:["],
    ["axb|a\\.b", {}, "src/b.md:1:axb\nsrc/b.md:2:a.b"],
    ["two", { context: 1 }, "src/a.ts-1-one\nsrc/a.ts:2:two\nsrc/a.ts-3-three"],
    ["one|five", { context: 1 }, "src/a.ts:1:one\nsrc/a.ts-2-two\n--\nsrc/a.ts-4-four\nsrc/a.ts:5:five"],
    ["o", { glob: "*.md" }, "src/b.md:3:o"],
    ["o", { glob: "src/*.md" }, "src/b.md:3:o"],
    ["o", { glob: "!*.ts" }, "src/b.md:3:o"],
    ["^o$", { glob: "**/*.{md,txt}" }, "src/b.md:3:o"],
    ["one\ntwo", {}, "src/a.ts:1:one\nsrc/a.ts:2:two"],
    ["e\\nt", {}, "src/a.ts:1:one\nsrc/a.ts:2:two"],
    ["axb\na.b", { literal: true }, "src/b.md:1:axb\nsrc/b.md:2:a.b"],
  ])("%j with %j", async (pattern, options, shown) => {
    await put({ "src/a.ts": "one\ntwo\nthree\nfour\nfive\n", "src/b.md": "axb\na.b\no\n[\n" });
    expect(text(await grep(pattern, options))).toBe(shown);
  });

  test("a place behind a link is shown where it is", async () => {
    await put({ "../other/sub/f": "", "../other/g": "needle\n" });
    symlinkSync("../other/sub", ws.path("link"));
    expect(text(await grep("needle", { path: "link/.." }))).toBe(`${ws.base}/other/g:1:needle`);
  });

  test("a place outside of the workspace is shown as read takes it", async () => {
    await put({ "../other/f": "needle\n", "../home/h": "needle\n" });
    expect(text(await grep("needle", { path: `${ws.base}/other` }))).toBe(`${ws.base}/other/f:1:needle`);
    expect(text(await grep("needle", { path: "~" }))).toBe(`${ws.home}/h:1:needle`);
  });

  test("the end of a line is found before CRLF too", async () => {
    await put({ f: "foo\r\nfoobar\r\n" });
    expect(text(await grep("foo$"))).toBe("f:1:foo");
    expect(text(await grep("foo\nfoo"))).toBe("f:1:foo\nf:2:foobar");
  });

  describe("no matches, bad pattern and path not found are three different results", () => {
    test.each<[string, Partial<ToolArgs<"grep">>, string, string]>([
      ["nowhere", {}, "ok", "No matches for `nowhere`"],
      ["(", {}, "failed", "Bad pattern, nothing was searched: regex parse error:"],
      [
        "(?=a)",
        {},
        "failed",
        "Bad pattern, nothing was searched: regex parse error:\n    (?=a)\n    ^^^\nerror: look-around",
      ],
      ["a{99999}{99999}", {}, "failed", "Bad pattern, nothing was searched: "],
      ["a", { path: "missing" }, "failed", "missing: no such file or directory"],
      ["a", { path: "f/x" }, "failed", "f/x: a part of the path is not a directory"],
    ])("%s %j", async (pattern, options, status, words) => {
      await put({ f: "content\n" });
      const outcome = await grep(pattern, options);
      expect([outcome.status, text(outcome).slice(0, words.length)]).toEqual([status, words]);
    });
  });

  test.each<[string, Partial<ToolArgs<"grep">>, string]>([
    ["--pre=PROGRAM", {}, "No matches for `--pre=PROGRAM`"],
    ["-rf", {}, "-v:1:rm -rf\n"],
    ["->", {}, "-v:2:a->b"],
    ["--help", { literal: true }, "No matches for `--help`"],
    ["x", { path: "--help" }, "--help: no such file or directory"],
    ["rm", { path: "-v" }, "-v:1:rm -rf"],
    ["x", { glob: "--pre=PROGRAM" }, "No matches for `x`"],
    ["x", { glob: "-v" }, "No matches for `x`"],
  ])("O-FIND-01: pattern %s with %j is taken literally", async (pattern, options, shown) => {
    await put({
      "x.sh": `#!/bin/sh\ntouch ${ws.path("PWNED")}\n`,
      "-v": "rm -rf\na->b\n",
      "!f": "",
      ".ripgreprc": "--pre=x.sh",
    });
    chmodSync(ws.path("x.sh"), 0o755);
    const swap = (value: string) => value.replace("PROGRAM", ws.path("x.sh"));
    const glob = options.glob && { glob: swap(options.glob) };
    expect(
      text(await grep(swap(pattern), { ...options, ...glob }))
        .replaceAll(ws.path("x.sh"), "PROGRAM")
        .startsWith(shown.trimEnd()),
    ).toBe(true);
    expect(existsSync(ws.path("PWNED"))).toBe(false);
  });

  test("a pattern of 200 KB is no argument, one of 300 KB is refused", async () => {
    const long = Array.from({ length: 45_000 }, (_, at) => at.toString(36)).join("-");
    await put({ f: `${long}\n` });
    const outcome = await grep(long.slice(0, 150_000), { literal: true });
    expect([outcome.status, outcome.details.matches]).toEqual(["ok", 1]);
    expect(text(await grep("x".repeat(300_000)))).toBe("The pattern has 300000 bytes; at most 262144 are searched for");
  });

  describe("O-FIND-02: ignore rules", () => {
    test("are scoped to their directory and hold without a git repository", async () => {
      await put({
        "venv/.gitignore": "*\n",
        "venv/a.py": "needle\n",
        "src/a.py": "needle\n",
        ".gitignore": "dist/\n",
        "dist/a.py": "needle\n",
      });
      expect(text(await grep("needle"))).toBe("src/a.py:1:needle");
    });

    test("that make no sense are passed over in silence", async () => {
      await put({ ".gitignore": "[z-a]\n{{{\nhidden\n", hidden: "needle\n", f: "needle\n" });
      expect(text(await grep("needle"))).toBe("f:1:needle");
    });

    test("hold for a glob that names the ignored files", async () => {
      await put({ ".gitignore": "*.log\n", "a.log": "needle\n", "b.txt": "needle\n" });
      expect(text(await grep("needle", { glob: "*.log" }))).toBe(
        "No matches for `needle` outside of ignored files (.gitignore and the like). These ignored ones do; read opens them, bash (find, grep -r) searches all:\na.log",
      );
    });

    test("hidden files are searched, .git is not, an ignored file named itself is", async () => {
      await put({
        ".env.example": "needle\n",
        ".git/config": "needle\n",
        ".gitignore": "secret\n",
        secret: "needle\n",
      });
      expect(text(await grep("needle"))).toBe(".env.example:1:needle");
      expect(text(await grep("needle", { path: "secret" }))).toBe("secret:1:needle");
      expect(text(await grep("needle", { path: ".git" }))).toBe(".git/config:1:needle");
    });
  });

  describe("O-FIND-03: long lines and binaries", () => {
    test("one match in a minified file is 500 characters with the match inside", async () => {
      await put({ "three.min.js": `${"x".repeat(700_000)}stats${"y".repeat(700_000)}\n` });
      expect(text(await grep("stats"))).toBe(
        `three.min.js:1:(699753 characters) …${"x".repeat(247)}stats${"y".repeat(248)}… (699752 more characters)`,
      );
    });

    test("the window is placed by characters, and cuts none", async () => {
      await put({ f: `${"🚀".repeat(1000)}stats${"é".repeat(1000)}\n` });
      const shown = text(await grep("stats"));
      expect(shown).toMatch(/^f:1:\(\d+ characters\) …🚀+statsé+… \(\d+ more characters\)$/u);
      expect(shown).not.toContain("\ufffd");
    });

    test("a line of nothing but matches is 500 characters like any other", async () => {
      writeFileSync(ws.path("f"), `${"x".repeat(1_500_000)}\n`);
      expect(text(await grep("x"))).toBe(`f:1:${"x".repeat(500)}… (1499500 more characters)`);
      writeFileSync(ws.path("f"), `${'},{"start":1}'.repeat(150_000)}\n`);
      expect(text(await grep('\\},\\{"start"'))).toMatch(/^f:1:\},\{"start":1\}.{487}… \(1949500 more characters\)$/);
    });

    test("a line of 40 MB is told and not shown", async () => {
      writeFileSync(ws.path("f"), `a\n${"x".repeat(40_000_000)}stats\n`);
      expect(text(await grep("stats"))).toBe("f:2:(a line of about 38.1 MiB, too long to show)");
    });

    test.each([1, 100])("a binary is named once, not dumped (limit %i)", async (limit) => {
      await put({
        "a.so": `\x7fELF\0\0stats\nstats\nstats\n`,
        "b.so": `${"text\n".repeat(20_000)}\0\nstats\n`,
        "c.txt": "stats\n",
      });
      const shown = text(await grep("stats", { limit }));
      expect(shown.split("\n").slice(0, 3)).toEqual(
        limit === 1
          ? ["Binary file a.so matches", "[First 1 match shown, there are more; narrow the search or raise limit]"]
          : ["Binary file a.so matches", "Binary file b.so matches", "c.txt:1:stats"],
      );
    });

    test("the whole output is capped and says so", async () => {
      await put({ f: `${"x".repeat(400)}\n`.repeat(1000) });
      const outcome = await grep("x", { limit: 1000 });
      expect(text(outcome).length).toBeLessThan(52_000);
      expect(text(outcome).split("\n").at(-1)).toBe(
        "[Output stopped at 50.0 KiB or 2000 lines, there may be more; narrow the search]",
      );
      expect(outcome.truncated).toBe(true);
    });

    test("O-OUT-03: the limit of matches says that there are more, and only then", async () => {
      await put({ a: "x\n".repeat(3), b: "x\n" });
      expect(text(await grep("x", { limit: 4 }))).toBe("a:1:x\na:2:x\na:3:x\nb:1:x");
      expect(text(await grep("x", { limit: 3 }))).toBe(
        "a:1:x\na:2:x\na:3:x\n[First 3 matches shown, there are more; narrow the search or raise limit]",
      );
    });
  });

  test("escape sequences in lines and names do not arrive raw", async () => {
    await put({ "\u001b[31mred": "needle\u001b[2J\u009b\rx\n" });
    expect(text(await grep("needle"))).toBe("\\x1b[31mred:1:needle\\x1b[2J\\x9b\\x0dx");
  });

  test("a line that is not UTF-8 is shown, its match in sight", async () => {
    await put({ f: "" });
    writeFileSync(ws.path("f"), Buffer.from(`caf\xe9 needle\n`, "latin1"));
    expect(text(await grep("needle"))).toBe("f:1:caf\ufffd needle");
  });

  test("O-READ-01: a FIFO in the tree is skipped, named itself it is refused", async () => {
    execFileSync("mkfifo", [ws.path("p")]);
    await put({ f: "needle\n" });
    expect(text(await grep("needle"))).toBe("f:1:needle");
    expect(text(await grep("needle", { path: "p" }))).toBe("`p` is a FIFO, not a regular file");
  });

  test("a file that cannot be read is told", async () => {
    await put({ f: "needle\n", g: "needle\n" });
    chmodSync(ws.path("g"), 0);
    const found = await withoutRoot(ws, () => grep("needle"));
    expect(text(found)).toMatch(/^f:1:needle\n\[Not all could be searched: .*g: Permission denied/);
  });

  test("a cancelled search says so", async () => {
    ws.abort.abort();
    expect((await grep("x")).status).toBe("cancelled");
  });
});

describe("a glob of grep", () => {
  test("may name files by their whole path", async () => {
    await put({ "src/a.ts": "needle", "b.ts": "needle" });
    expect(text(await grep("needle", { glob: `${ws.root}/src/*.ts` }))).toBe("src/a.ts:1:needle");
  });

  test.each(["*.ts, *.js", "src", "{", "[a", "other/**"])("that no file matches is told: %s", async (glob) => {
    await put({ "src/a.ts": "needle" });
    const answer = text(await grep("needle", { glob }));
    expect(answer).toContain(`no file matches the glob \`${glob}\`, so nothing was searched`);
    expect(text(await grep("nowhere", { glob: "*.ts" }))).toBe("No matches for `nowhere`");
  });
});
