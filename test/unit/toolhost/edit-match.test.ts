import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { handleEdit } from "../../../src/toolhost/files/edit.ts";
import { text, Workspace, whenRead } from "./fixture.ts";

let ws: Workspace;
beforeEach(() => {
  ws = new Workspace();
});
afterEach(() => ws.remove());

type Edit = { oldText: string; newText: string };
const edit = (path: string, ...edits: Edit[]) => ws.call(handleEdit, { path, edits });
const swap = (oldText: string, newText: string): Edit => ({ oldText, newText });

describe("O-EDIT-04: what cannot be one place is refused, and the file stays", () => {
  test.each<[string, string, Edit[], string]>([
    [
      "overlapping matches",
      "foo\nfoo\nfoo\n",
      [swap("foo\nfoo\n", "x")],
      "oldText occurs 2 times, at lines 1, 2; nothing was changed. Add surrounding lines to make it unique",
    ],
    [
      "two equal lines",
      "a\n    debug = True\nb\n    debug = True\n",
      [swap("debug = True", "x")],
      "oldText occurs 2 times, at lines 2, 4; nothing was changed. Add surrounding lines to make it unique",
    ],
    [
      "thirty matches",
      "x\n".repeat(30),
      [swap("x", "y")],
      `oldText occurs 30 times, at lines ${Array.from({ length: 20 }, (_, at) => at + 1).join(", ")} and 10 more; nothing was changed. Add surrounding lines to make it unique`,
    ],
    [
      "matches on one line",
      "a\ne x, x, x;\n",
      [swap("x", "y")],
      "oldText occurs 3 times, at line 2, columns 3, 6, 9; nothing was changed. Add surrounding text to make it unique",
    ],
    [
      "matches some of which share a line",
      "x x\nx\n",
      [swap("x", "y")],
      "oldText occurs 3 times, at lines 1, 2, some of them several times; nothing was changed. Add surrounding text to make it unique",
    ],
    ["two loose matches", "a  \nb\na\t\nb\n", [swap("a\nb", "x")], "oldText occurs 2 times"],
    [
      "an empty text",
      "a\n",
      [swap("", "x")],
      "oldText is empty; name the text to replace, or use write for a whole file",
    ],
    [
      "an empty text on an empty file",
      "",
      [swap("", "x")],
      "oldText is empty; name the text to replace, or use write for a whole file",
    ],
    ["no change", "a\n", [swap("a", "a")], "no change: oldText and newText are the same; nothing was changed"],
    [
      "no change in the second edit",
      "a\nb\n",
      [swap("a", "x"), swap("b", "b")],
      "Edit 2 of 2: no change: oldText and newText are the same; nothing was changed",
    ],
    [
      "an overlap",
      "abcdef\n",
      [swap("abc", "x"), swap("f", "y"), swap("cde", "z")],
      "Edits 1 and 3 overlap at line 1; nothing was changed. Join them into one edit",
    ],
    [
      "the same text twice",
      "abc\n",
      [swap("abc", "x"), swap("abc", "y")],
      "Edits 1 and 2 overlap at line 1; nothing was changed. Join them into one edit",
    ],
    [
      "text only another edit would make",
      "a\n",
      [swap("a", "b"), swap("b", "c")],
      "Edit 2 of 2: oldText is not in the file; nothing was changed. No line resembles it; read the file again and copy the text from there",
    ],
  ])("%s", async (_, before, edits, words) => {
    await ws.put("f", before);
    const outcome = await edit("f", ...edits);
    expect([outcome.status, text(outcome).slice(0, words.length)]).toEqual(["failed", words]);
    expect(await ws.bytes("f")).toBe(before);
  });

  test("edits that touch do not overlap", async () => {
    await ws.put("f", "abcdef");
    expect((await edit("f", swap("def", "2"), swap("abc", "1"))).status).toBe("ok");
    expect(await ws.bytes("f")).toBe("12");
  });

  test("a megabyte of one letter is answered in a second", async () => {
    await ws.put("f", "a".repeat(5_000_000));
    const started = Date.now();
    const many = await edit("f", swap("a".repeat(100_000), "x"));
    expect(text(many)).toContain("occurs 4900001 times");
    expect((await edit("f", swap(`b${"a".repeat(100_000)}`, "x"))).status).toBe("failed");
    expect(Date.now() - started).toBeLessThan(15_000);
  });
});

describe("O-EDIT-05: a match that is not exact changes its span only", () => {
  const special = "one  \n“smart” — dash\nNB\u00a0SP ﬁne\ne\u0301 tail\t \nlast = 1;   \n";
  test.each<[string, Edit, string]>([
    [
      "a trailing blank in oldText",
      swap("last = 1; \n", "last = 2;\n"),
      special.replace("last = 1;   \n", "last = 2;\n"),
    ],
    ["ASCII quotes", swap('"smart"', "plain"), special.replace("“smart”", "plain")],
    ["an ASCII dash", swap("- dash", "- DASH"), special.replace("— dash", "- DASH")],
    ["a plain blank", swap("NB SP", "NBSP"), special.replace("NB\u00a0SP", "NBSP")],
    ["a ligature", swap("fine", "good"), special.replace("ﬁne", "good")],
    ["a composed letter", swap("é tail", "x"), special.replace("e\u0301 tail", "x")],
    ["blanks at the end of a line inside", swap("one\n", "1\n"), special.replace("one  \n", "1\n")],
  ])("%s", async (_, change, after) => {
    await ws.put("f", special);
    const outcome = await edit("f", change);
    expect(await ws.bytes("f")).toBe(bytesOf(after));
    expect(text(outcome)).toContain(
      "oldText was not an exact match: blanks, quotes, dashes or forms of characters differ",
    );
  });

  test.each<[string, string, string]>([
    ["half of a ligature", "ﬁne\n", "ine"],
    ["a letter without its accent", "e\u0301\n", "e "],
    ["the beginning of a longer word", "barn\n", "bar "],
    ["blanks alone", "a\u00a0b\n", "  "],
    ["another indentation", "\tif x:\n", "    if x:"],
  ])("%s does not match", async (_, before, oldText) => {
    await ws.put("f", before);
    expect((await edit("f", swap(oldText, "X"))).status).toBe("failed");
    expect(await ws.bytes("f")).toBe(bytesOf(before));
  });

  test("an exact match wins over a loose one", async () => {
    await ws.put("f", '“a”\n"a"\n');
    expect(text(await edit("f", swap('"a"', "b")))).toBe("Edited f: 1 replacement, +1 -1 lines");
    expect(await ws.bytes("f")).toBe(bytesOf("“a”\nb\n"));
  });
});

describe("no match: the nearest lines and the first differing character", () => {
  test.each<[string, string, string, string]>([
    [
      "a typo",
      "function foo() {\n  return 1;\n}\n",
      "function foo() {\n  return 2;\n}",
      "First difference at line 2, column 10: the file has `1` (U+0031), oldText has `2` (U+0032). Nearest lines:\n1: function foo() {\n2:   return 1;\n3: }",
    ],
    [
      "an indentation",
      "x\n\tcall(a);\n",
      "    call(a);",
      "First difference at line 2, column 1: the file has `\\t` (U+0009), oldText has ` ` (U+0020). Nearest lines:\n2: \\tcall(a);",
    ],
    [
      "a part of a line",
      "const x = foo(bar, baz);\n",
      "foo(bar, bax)",
      "First difference at line 1, column 22: the file has `z` (U+007A), oldText has `x` (U+0078). Nearest lines:\n1: const x = foo(bar, baz);",
    ],
    [
      "a text longer than the file",
      "one line\n",
      "one line\ntwo\n",
      "The file ends at line 1, oldText goes on. Nearest lines:\n1: one line",
    ],
    ["nothing alike", "abc\n", "xyzw", "No line resembles it; read the file again and copy the text from there"],
    ["an empty file", "", "xyzw", "The file is empty; use write to give it content"],
    [
      "a last line without a newline",
      "foo = 1\nbar = 2",
      "bar = 2\n",
      "First difference at line 2, column 8: the file ends here, without a newline, oldText has the line's end (U+000A). Nearest lines:\n2: bar = 2",
    ],
    [
      "a short last line without a newline",
      "x\ny",
      "y\n",
      "First difference at line 2, column 2: the file ends here, without a newline, oldText has the line's end (U+000A). Nearest lines:\n2: y",
    ],
    [
      "short lines",
      "a\nb\nc\n",
      "b\nx\n",
      "First difference at line 3, column 1: the file has `c` (U+0063), oldText has `x` (U+0078). Nearest lines:\n2: b\n3: c",
    ],
    [
      "a long line, which is shown around the difference",
      `${"a;".repeat(5000)}needle(1)${"b;".repeat(5000)}\n`,
      "needle(2)",
      `First difference at line 1, column 10008: the file has \`1\` (U+0031), oldText has \`2\` (U+0032). Nearest lines:\n1: (9908 characters) …${"a;".repeat(46)}needle(1)${"b;".repeat(49)}b… (9901 more characters)`,
    ],
    [
      "an escape the model copied as shown",
      "a = \u001b[0m;\n",
      "a = \\x1b[0m;",
      "First difference at line 1, column 5: the file has `\\x1b` (U+001B), oldText has `\\` (U+005C). Nearest lines:\n1: a = \\x1b[0m;",
    ],
  ])("%s", async (_, before, oldText, words) => {
    await ws.put("f", before);
    expect(text(await edit("f", swap(oldText, "?")))).toBe(`oldText is not in the file; nothing was changed. ${words}`);
  });
});

describe("no match in a file that is not UTF-8", () => {
  test("names the byte that differs, and no letter it is not", async () => {
    await ws.put("f", Buffer.from("const x = 1; // caf\xe9\n", "latin1"));
    expect(text(await edit("f", swap("const x = 1; // café\n", "?")))).toBe(
      "oldText is not in the file; nothing was changed. First difference at line 1, column 20: the file has the byte 0xE9, oldText has the byte 0xC3. Nearest lines:\n1: const x = 1; // caf\\xe9\nThe file is not valid UTF-8, so letters outside ASCII are other bytes in it than in oldText; choose text without them",
    );
  });

  test("names the byte of a short word too", async () => {
    await ws.put("f", Buffer.from("caf\xe9\n", "latin1"));
    const words = "column 4: the file has the byte 0xE9, oldText has the byte 0xC3.";
    expect(text(await edit("f", swap("café", "?")))).toContain(words);
  });

  test("says what U+FFFD in a text copied from `read` stands for", async () => {
    await ws.put("f", Buffer.from("x // caf\xe9\n", "latin1"));
    expect(text(await edit("f", swap("x // caf\ufffd", "?")))).toContain(
      "\nThe file is not valid UTF-8: read shows its other bytes as U+FFFD, which stands for none of them; choose text without it",
    );
  });
});

test("thousands of edits of a large file leave the channel served and can be cancelled", async () => {
  const before = Array.from({ length: 20_000 }, (_, at) => `line ${at};\n`).join("");
  await ws.put("f", before);
  const edits = Array.from({ length: 5000 }, (_, at) => swap(`line ${at};`, `LINE ${at};`));
  ws.host.seen = whenRead(() => setTimeout(() => ws.abort.abort(), 0));
  expect([(await edit("f", ...edits)).status, await ws.bytes("f")]).toEqual(["cancelled", before]);
});

function bytesOf(content: string): string {
  return Buffer.from(content, "utf8").toString("latin1");
}
