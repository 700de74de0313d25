import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findText, longestPrefix } from "../../../src/toolhost/files/find-text.ts";
import { lineChanges } from "../../../src/toolhost/files/line-diff.ts";
import { shownName } from "../../../src/toolhost/files/names.ts";
import { normalise, sourceEnd, sourceStart } from "../../../src/toolhost/files/normalise.ts";
import { unifiedDiff } from "../../../src/toolhost/files/unified-diff.ts";
import { programPath } from "../../support/programs.ts";

/** The same numbers every time (mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

describe("findText", () => {
  test.each<[string, string, number[]]>([
    ["aaaa", "aa", [0, 1, 2]],
    ["abcabcabd", "abcabd", [3]],
    ["abab", "abab", [0]],
    ["ababab", "abab", [0, 2]],
    ["abc", "abcd", []],
    ["", "a", []],
    ["a🚀🚀", "🚀", [1, 3]],
  ])("in %j finds %j at %j", (text, pattern, offsets) => {
    expect([findText(text, pattern).offsets, findText(text, pattern).count]).toEqual([offsets, offsets.length]);
  });

  test("finds what indexOf finds, in a thousand random texts", () => {
    const below = random(1);
    for (let round = 0; round < 1000; round++) {
      const text = Array.from({ length: below(60) }, () => "ab"[below(2)]).join("");
      const pattern = Array.from({ length: 1 + below(5) }, () => "ab"[below(2)]).join("");
      const expected: number[] = [];
      for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + 1)) expected.push(at);
      expect(findText(text, pattern).offsets).toEqual(expected);
    }
  });

  test("tells the longest beginning that occurs, and where", () => {
    expect(longestPrefix("xx abz abcz", "abcd")).toEqual({ length: 3, end: 10 });
  });
});

describe("unifiedDiff", () => {
  test("five hundred random diffs are applied by patch, and none is longer than it must", () => {
    const below = random(2);
    const folder = mkdtempSync(join(tmpdir(), "glovebox-diff-"));
    try {
      for (let round = 0; round < 60; round++) {
        const lines = Array.from({ length: below(40) }, () => `${below(8)}\n`);
        const changed = lines.flatMap((line) =>
          below(5) === 0 ? Array.from({ length: below(3) }, () => `${below(8)}\n`) : [line],
        );
        const before = lines.join("").slice(0, lines.length === 0 || below(2) ? undefined : -1);
        const after = changed.join("").slice(0, changed.length === 0 || below(2) ? undefined : -1);
        writeFileSync(join(folder, "f"), before);
        const { text } = unifiedDiff("f", before, after);
        if (text !== "")
          execFileSync(programPath("git"), ["apply", "--unidiff-zero", "-"], { cwd: folder, input: text, env: {} });
        expect(readFileSync(join(folder, "f"), "utf8")).toBe(after);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("diffs of files with blank lines, CRLF and no last newline are applied by git to the byte", () => {
    const below = random(4);
    const folder = mkdtempSync(join(tmpdir(), "glovebox-diff-"));
    const lines = [
      "\n",
      "\n",
      "a\n",
      "b\r\n",
      "\r\n",
      "c\n",
      "é 🚀\n",
      "\\ No newline at end of file\n",
      "--- a/f\n",
      "@@\n",
    ];
    const line = () => lines[below(lines.length)] ?? "";
    try {
      for (let round = 0; round < 150; round++) {
        const old = Array.from({ length: below(25) }, line);
        const changed = old.flatMap((kept) => (below(6) === 0 ? Array.from({ length: below(3) }, line) : [kept]));
        const [before, after] = [old, changed].map((all) => all.join("").slice(0, below(2) ? undefined : -1));
        if (before === undefined || after === undefined || after === "" || before === after) continue;
        writeFileSync(join(folder, "f"), before);
        const { text } = unifiedDiff("f", before, after);
        const args = ["apply", "--whitespace=nowarn", "-"];
        execFileSync(programPath("git"), args, { cwd: folder, input: text, env: {} });
        expect(readFileSync(join(folder, "f"), "latin1"), text).toBe(Buffer.from(after).toString("latin1"));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.each([
    ...["my file", "a\tb", "new\nline", 'quo"te', "back\\slash", "é 漢", "-rf", "$(touch x)", "sub/my file", " x "],
  ])("git finds the file %j by the names of its diff", (name) => {
    const folder = mkdtempSync(join(tmpdir(), "glovebox-diff-"));
    try {
      mkdirSync(join(folder, "sub"));
      writeFileSync(join(folder, name), "a\n");
      const input = unifiedDiff(name, "a\n", "b\n").text;
      execFileSync(programPath("git"), ["apply", "-"], { cwd: folder, input, env: {} });
      expect(readFileSync(join(folder, name), "utf8")).toBe("b\n");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.each<[string, string]>([
    ["/work/f", "--- a/work/f\n+++ b/work/f\n"],
    ["\u202ef", "--- a/\\u202ef\n+++ b/\\u202ef\n"],
    ["\u001b[2J", '--- "a/\\033[2J"\n+++ "b/\\033[2J"\n'],
  ])("the name of %j cannot act on a terminal", (name, header) => {
    expect(unifiedDiff(name, "a\n", "b\n").text.startsWith(header)).toBe(true);
  });

  test.each<[string, string, string, string]>([
    ["a first line that is empty is context too", "\na\nb\n", "\nA\nb\n", "@@ -1,3 +1,3 @@\n \n-a\n+A\n b\n"],
    [
      "far changes are two hunks",
      seq(20),
      seq(20).replace("2\n", "two\n").replace("\n18\n", "\n"),
      "@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -15,6 +15,5 @@\n 15\n 16\n 17\n-18\n 19\n 20\n",
    ],
    ["a first line in an empty file", "", "a\n", "@@ -0,0 +1 @@\n+a\n"],
    ["all lines gone", "a\n", "", "@@ -1 +0,0 @@\n-a\n"],
    ["a final newline gone", "a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"],
    ["CRLF to LF", "a\r\n", "a\n", "@@ -1 +1 @@\n-a\r\n+a\n"],
    ["an escape sequence", "a\n", "\u001b[m\n", "@@ -1 +1 @@\n-a\n+\\x1b[m\n"],
  ])("%s", (_, before, after, hunks) => {
    expect(unifiedDiff("f", before, after).text).toBe(`--- a/f\n+++ b/f\n${hunks}`);
  });

  test("no change is no diff", () => {
    expect(unifiedDiff("f", "a\n", "a\n")).toEqual({ text: "", added: 0, removed: 0 });
  });

  test("a thousand scattered changes among lines of which some are equal are a thousand changes", () => {
    const lines = (every: number) =>
      Array.from({ length: 10_000 }, (_, at) => (at % 3 === 0 ? "}\n" : at % 10 === every ? `new ${at}\n` : `${at}\n`));
    const [before, after] = [lines(-1), lines(1)];
    const differing = before.filter((line, at) => line !== after[at]).length;
    expect(differing).toBeGreaterThan(600);
    const { added, removed } = unifiedDiff("f", before.join(""), after.join(""));
    expect([added, removed]).toEqual([differing, differing]);
  });

  test("changes beyond the limit of comparing lead from the old lines to the new ones", () => {
    const below = random(5);
    for (let round = 0; round < 20; round++) {
      const before = Array.from({ length: 2000 }, (_, at) => `${below(4) === 0 ? below(5) : at}`);
      const after = before.flatMap((line) =>
        below(3) === 0 ? Array.from({ length: below(3) }, () => `n${below(900)}`) : [line],
      );
      const rebuilt: string[] = [];
      let at = 0;
      for (const { oldFrom, oldTo, newFrom, newTo } of lineChanges(before, after)) {
        rebuilt.push(...before.slice(at, oldFrom), ...after.slice(newFrom, newTo));
        at = oldTo;
      }
      expect([...rebuilt, ...before.slice(at)]).toEqual(after);
    }
  });

  test("two files of 200,000 lines with nothing in common are compared at once", () => {
    const started = Date.now();
    const lines = (word: string) => Array.from({ length: 200_000 }, (_, at) => `${word}${at}`);
    expect(lineChanges(lines("a"), lines("b"))).toEqual([{ oldFrom: 0, oldTo: 200_000, newFrom: 0, newTo: 200_000 }]);
    expect(
      lineChanges(["x", ...Array(200_000).fill("same"), "y"], ["z", ...Array(199_000).fill("same"), "w"]).length,
    ).toBeGreaterThan(0);
    expect(Date.now() - started).toBeLessThan(15_000);
  });
});

describe("normalise", () => {
  test.each([
    ["a\r\nb", "a\nb"],
    ["a \t\r\nb\u00a0", "a\nb"],
    ["“q” ‘s’ – —", "\"q\" 's' - -"],
    ["a\u00a0b\u3000c", "a b c"],
    ["ﬁ e\u0301 ｶﾞ \u1112\u1161\u11ab", "fi é ガ 한"],
    ["a\rb", "a\rb"],
    ["", ""],
  ])("%j is %j", (source, normal) => {
    expect(normalise(source, "forms")?.text).toBe(normal);
  });

  test("every place of a normal form leads back to text with that normal form", () => {
    const below = random(3);
    const alphabet = ["a", "b", " ", "\u00a0", "\n", "\r\n", "ﬁ", "e\u0301", "“", "—", "\t", "🚀"];
    for (let round = 0; round < 500; round++) {
      const source = Array.from({ length: below(12) }, () => alphabet[below(alphabet.length)]).join("");
      const normal = normalise(source, "forms") ?? { text: "", pieces: [] };
      for (let from = 0; from < normal.text.length; from++) {
        for (let to = from + 1; to <= normal.text.length; to++) {
          const [start, end] = [sourceStart(normal, from), sourceEnd(normal, to)];
          if (start === undefined || end === undefined) continue;
          const back = normalise(source.slice(start, end), "forms")?.text ?? "";
          expect(back.trimEnd()).toBe(normal.text.slice(from, to).trimEnd());
        }
      }
    }
  });

  test.each<[string, string, boolean]>([
    ["blanks", " ", true],
    ["no-break spaces", "\u00a0", false],
    ["combining marks", "\u0301", true],
    ["CRLF", "\r\n", false],
  ])("two million %s cost neither the stack nor much time; many pieces are given up", (_, unit, possible) => {
    const started = Date.now();
    expect(normalise(`e${unit.repeat(2_000_000)}x`, "forms") !== undefined).toBe(possible);
    expect(Date.now() - started).toBeLessThan(15_000);
  });
});

test.each<[string, Buffer, string]>([
  ["text", Buffer.from("plain é 漢"), "plain é 漢"],
  ["Latin-1", Buffer.from("caf\xe9", "latin1"), "caf\\xe9"],
  ["bytes of no encoding", Buffer.from("fffe", "hex"), "\\xff\\xfe"],
  ["half a character", Buffer.from("e282", "hex"), "\\xe2\\x82"],
  ["a surrogate in UTF-8", Buffer.from("eda080", "hex"), "\\xed\\xa0\\x80"],
  ["control characters", Buffer.from("a\nb\tc\x1b\x7f"), "a\\nb\\tc\\x1b\\x7f"],
  ["a bidi override", Buffer.from("\u202e"), "\\u202e"],
])("%s in a name", (_, bytes, shown) => {
  expect(shownName(bytes)).toBe(shown);
});

function seq(to: number): string {
  return Array.from({ length: to }, (_, at) => `${at + 1}\n`).join("");
}
