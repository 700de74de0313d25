import { expect, test } from "vitest";
import { escapeControls, visible, visibleLine } from "../../src/core/visible.ts";

test.each([
  ["a colour", "\u001b[31mred", "\\x1b[31mred"],
  ["a title", "\u001b]0;x\u0007", "\\x1b]0;x\\x07"],
  ["an 8-bit CSI", "\u009b31m", "\\x9b31m"],
  ["a carriage return that hides", "evil\rgood", "evil\\x0dgood"],
  ["a bidi override", "a\u202eb", "a\\u202eb"],
  ["a zero width joiner", "a\u200db", "a\\u200db"],
  ["a Hangul filler", "a\u3164b", "a\\u3164b"],
  ["a tag character", "a\u{e0041}b", "a\\u{e0041}b"],
  ["a byte in a variation selector", "a\u{e0101}\ufe01", "a\\u{e0101}\\ufe01"],
  ["half a surrogate pair", "a\ud83db", "a\\ud83db"],
  ["a byte order mark", "\ufeffa", "\\ufeffa"],
])("%s becomes visible", (_, hostile, shown) => {
  expect(visible(hostile)).toBe(shown);
});

test.each(["plain\n\ttext", "é漢字🚀", "❤\ufe0f", "नमस्ते", "한국어"])("%j stays as it is", (harmless) => {
  expect(visible(harmless)).toBe(harmless);
});

test("a visible line is one line", () => {
  expect(visibleLine("a\nb\tc\u001b")).toBe("a\\nb\\tc\\x1b");
});

test("the content of a file loses its controls and keeps what an edit has to match", () => {
  expect(escapeControls("a\tb\r\n\f\u0000\u001b[0m\u0085\u007f\ud83d|\ufeff\u200d\u202e")).toBe(
    "a\tb\r\n\f\\x00\\x1b[0m\\x85\\x7f\\ud83d|\ufeff\u200d\u202e",
  );
});
