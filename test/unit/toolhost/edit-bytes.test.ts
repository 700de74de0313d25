import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { handleEdit } from "../../../src/toolhost/files/edit.ts";
import { text, Workspace } from "./fixture.ts";

let ws: Workspace;
beforeEach(() => {
  ws = new Workspace();
});
afterEach(() => ws.remove());

type Edit = { oldText: string; newText: string };
const edit = (path: string, ...edits: Edit[]) => ws.call(handleEdit, { path, edits });
const swap = (oldText: string, newText: string): Edit => ({ oldText, newText });

describe("O-EDIT-02: line endings", () => {
  test.each<[string, string, Edit, string]>([
    ["LF text is found in a CRLF file", "a\r\n\tb\r\nc\r\n", swap("\tb\nc", "\tB\nC"), "a\r\n\tB\r\nC\r\n"],
    ["CRLF text is found, new lines are CRLF", "a\r\n\tb\r\nc\r\n", swap("\tb\r\nc", "\tB\nC"), "a\r\n\tB\r\nC\r\n"],
    ["CRLF text is found in an LF file and stays LF", "a\nb\nc\n", swap("a\r\nb", "A\r\nB"), "A\nB\nc\n"],
    ["an LF line of a mixed file", "1\n2\n3\r\n4\r\n", swap("1", "one\nand"), "one\nand\n2\n3\r\n4\r\n"],
    ["a CRLF line of a mixed file", "1\n2\n3\r\n4\r\n", swap("3", "three\nand"), "1\n2\nthree\r\nand\r\n4\r\n"],
    ["a region of both keeps each line's own", "1\n2\r\n3", swap("1\n2\n3", "x\ny\nz\nw"), "x\ny\r\nz\r\nw"],
    ["the last line takes the ending of the one before", "1\r\n2", swap("2", "2\n3"), "1\r\n2\r\n3"],
    ["a file of one line has no ending to keep", "1", swap("1", "1\n2\r\n3"), "1\n2\r\n3"],
    [
      "CRLF written on purpose into an LF file stays",
      "h\nb\n",
      swap("h", "GET / HTTP/1.1\r\nHost: x"),
      "GET / HTTP/1.1\r\nHost: x\nb\n",
    ],
    ["a lone CR is not a line ending", "a\rb\r\n", swap("a\rb", "a\rB"), "a\rB\r\n"],
    ["text that begins with a break", "a\r\nb\r\n", swap("\nb", "\nB"), "a\r\nB\r\n"],
    ["text that ends with a break", "a\r\nb\r\n", swap("a\n", "A\n"), "A\r\nb\r\n"],
    ["line breaks alone are found in a CRLF file", "a\r\n\r\nb\r\n", swap("\n\n", "\n"), "a\r\nb\r\n"],
    ["a break that is only LF in oldText is replaced whole", "a\r\nb\r\n", swap("\nb", " b"), "a b\r\n"],
    ["lines added after such a break are CRLF", "a\r\nb\r\n", swap("\nb", "\n\nB\nC"), "a\r\n\r\nB\r\nC\r\n"],
    ["a line taken out leaves the others", "a\r\nb\r\nc\n", swap("b\n", ""), "a\r\nc\n"],
  ])("%s", async (_, before, change, after) => {
    await ws.put("f", before);
    expect((await edit("f", change)).status).toBe("ok");
    expect(await ws.bytes("f")).toBe(after);
  });

  test("text that ends in the middle of a CRLF is refused, and the break stays whole", async () => {
    await ws.put("f", "x\r\na\r\nb\r\n");
    expect(text(await edit("f", swap("a\r", "q")))).toBe(
      "oldText ends between the CR and the LF of the line ending of line 2; nothing was changed. End it before the CR, or with the whole line ending",
    );
    expect(await ws.bytes("f")).toBe("x\r\na\r\nb\r\n");
  });

  test("a match that differs in line endings is told", async () => {
    await ws.put("f", "a\r\nb\r\n");
    expect(text(await edit("f", swap("a\nb", "A\nB")))).toBe(
      "Edited f: 1 replacement, +2 -2 lines; oldText was not an exact match: line endings differ, the file's were kept",
    );
  });

  test("an edit of line endings only is refused as no change, and says why", async () => {
    await ws.put("f", "a\r\nb\r\n");
    expect(text(await edit("f", swap("a\r\n", "a\n")))).toBe(
      "no change: newText only differs in line endings, which follow the file's; use bash to change those; nothing was changed",
    );
  });
});

describe("O-EDIT-03: encoding", () => {
  test.each<[string, string, Edit, string]>([
    [
      "a Latin-1 byte in another line",
      "const x = 1;\n// caf\xe9\n",
      swap("x = 1", "x = 2"),
      "const x = 2;\n// caf\xe9\n",
    ],
    ["a Latin-1 byte in the same line", "x = 1 // caf\xe9\n", swap("x = 1", "x = 2"), "x = 2 // caf\xe9\n"],
    ["CRLF and a Latin-1 byte", "a\r\nb\r\n\xe9\r\n", swap("a\nb", "A\nB"), "A\r\nB\r\n\xe9\r\n"],
    ["every byte there is but NUL", `${allBytes()}needle`, swap("needle", "pin"), `${allBytes()}pin`],
    ["a byte order mark", "\xef\xbb\xbfhello\n", swap("hello", "hello2"), "\xef\xbb\xbfhello2\n"],
    [
      "a byte order mark the model wrote too",
      "\xef\xbb\xbfhello\n",
      swap("\ufeffhello", "\ufeffhi"),
      "\xef\xbb\xbfhi\n",
    ],
    ["no final newline", "a\nb", swap("a", "c"), "c\nb"],
    ["UTF-8 of four bytes", bytesOf("🚀 a\n"), swap("🚀 a", "🚀 é"), bytesOf("🚀 é\n")],
  ])("%s stays", async (_, before, change, after) => {
    await ws.put("f", Buffer.from(before, "latin1"));
    expect((await edit("f", change)).status).toBe("ok");
    expect(await ws.bytes("f")).toBe(after);
  });

  test("UTF-8 written into a file that is not is told", async () => {
    await ws.put("f", Buffer.from("a\xe9\n", "latin1"));
    expect(text(await edit("f", swap("a", "ü")))).toBe(
      "Edited f: 1 replacement, +1 -1 lines; the file is not valid UTF-8, its other bytes are untouched; newText was written as UTF-8",
    );
  });

  test("a UTF-16 file is refused and untouched", async () => {
    const bytes = `\xff\xfe${Buffer.from("hello\n", "utf16le").toString("latin1")}`;
    await ws.put("f", Buffer.from(bytes, "latin1"));
    expect(text(await edit("f", swap("hello", "x")))).toBe(
      "`f` is binary (UTF-16 text (little endian)); edit changes text only",
    );
    expect(await ws.bytes("f")).toBe(bytes);
  });

  test.each([
    ["a text file", "a\n"],
    ["a file that is not UTF-8", "a\xe9\n"],
  ])("half a surrogate pair for %s is refused, not written as U+FFFD", async (_, before) => {
    await ws.put("f", Buffer.from(before, "latin1"));
    const outcome = await edit("f", swap("a", "\ud83d"));
    expect([outcome.status, text(outcome)]).toEqual([
      "failed",
      "the text holds half of a surrogate pair, which no UTF-8 file can hold; nothing was changed",
    ]);
    expect(await ws.bytes("f")).toBe(before);
  });
});

function allBytes(): string {
  return String.fromCharCode(...Array.from({ length: 255 }, (_, at) => at + 1));
}

function bytesOf(content: string): string {
  return Buffer.from(content, "utf8").toString("latin1");
}
