import { describe, expect, test } from "vitest";
import {
  boundaryBefore,
  byteLength,
  clip,
  clipAround,
  countLines,
  headBytes,
  headLines,
  isWellFormed,
  splitLines,
  tailBytes,
  tailLines,
  wellFormed,
} from "../../src/core/truncate.ts";

const rocket = "🚀";

describe("O-OUT-01", () => {
  test.each([0, 1, 2, 3, 4, 5])(
    "O-OUT-01: no cut at any of the shortenings leaves half a surrogate pair (%i before)",
    (k) => {
      const text = "a".repeat(k) + rocket.repeat(100);
      for (let limit = 0; limit <= 40; limit++) {
        const cuts = [
          headBytes(text, limit),
          tailBytes(text, limit),
          clip(text, limit),
          clipAround(text, 30, 40, limit),
          headLines(text, { maxLines: 9, maxBytes: limit }).text,
          tailLines(text, { maxLines: 9, maxBytes: limit }).text,
        ];
        expect(cuts.filter((cut) => !isWellFormed(cut))).toEqual([]);
        expect(byteLength(cuts[0] ?? "")).toBeLessThanOrEqual(limit);
        expect(byteLength(cuts[1] ?? "")).toBeLessThanOrEqual(limit);
        expect(text.startsWith(cuts[0] ?? "?")).toBe(true);
        expect(text.endsWith(cuts[1] ?? "?")).toBe(true);
      }
    },
  );

  test("O-OUT-01: a lone surrogate becomes U+FFFD and a pair stays", () => {
    expect(wellFormed(`\ud83d|${rocket}|\ude80`)).toBe(`\ufffd|${rocket}|\ufffd`);
  });
});

test.each([
  ["abcdef", 3, "abc", "def"],
  ["aé", 2, "a", "é"],
  ["éa", 2, "é", "a"],
  ["漢字", 5, "漢", "字"],
  ["abc", 0, "", ""],
  ["abc", -5, "", ""],
  ["abc", 3, "abc", "abc"],
  ["", 0, "", ""],
])("%j within %i bytes keeps %j from its head and %j from its tail", (text, limit, head, tail) => {
  expect([headBytes(text, limit), tailBytes(text, limit)]).toEqual([head, tail]);
});

test.each([
  ["c3a9", 1, 0],
  ["61c3a9", 2, 1],
  ["61c3a9", 3, 3],
  ["f09f9a80", 3, 0],
  ["8080808080", 4, 4],
  ["61", 9, 1],
])("the character boundary in %s at or before %i is %i", (hex, end, boundary) => {
  expect(boundaryBefore(Buffer.from(hex, "hex"), end)).toBe(boundary);
});

describe("headLines and tailLines", () => {
  const text = "one\ntwo\nthree\n";
  test.each([
    [{ maxLines: 2, maxBytes: 99 }, "one\ntwo\n", "two\nthree\n", 2, false],
    [{ maxLines: 9, maxBytes: 9 }, "one\ntwo\n", "three\n", undefined, false],
    [{ maxLines: 9, maxBytes: 2 }, "on", "e\n", 1, true],
  ])("within %j keep whole lines, of a too long one a part", (limits, head, tail, kept, lineCut) => {
    expect(headLines(text, limits)).toEqual(cut(head, kept ?? 2, lineCut));
    expect(tailLines(text, limits)).toEqual(cut(tail, kept ?? 1, lineCut));
  });

  test("what fits is returned as it is", () => {
    const whole = { text, keptLines: 3, totalLines: 3, keptBytes: 14, totalBytes: 14, cut: false, lineCut: false };
    expect(headLines(text, { maxLines: 3, maxBytes: 14 })).toEqual(whole);
    expect(tailLines(text, { maxLines: 3, maxBytes: 14 })).toEqual(whole);
  });

  test("O-OUT-03: bytes are limited as well as lines, and both totals are told", () => {
    const oneLine = "x".repeat(3_000_000);
    const result = headLines(oneLine, { maxLines: 2000, maxBytes: 51_200 });
    expect({ ...result, text: result.text.length }).toEqual({
      text: 51_200,
      keptLines: 1,
      totalLines: 1,
      keptBytes: 51_200,
      totalBytes: 3_000_000,
      cut: true,
      lineCut: true,
    });
  });

  function cut(kept: string, keptLines: number, lineCut: boolean) {
    return { text: kept, keptLines, totalLines: 3, keptBytes: byteLength(kept), totalBytes: 14, cut: true, lineCut };
  }
});

test("a clipped text tells how many characters are missing", () => {
  expect([clip("abcdef", 4), clip("abcd", 4)]).toEqual(["abcd… (2 more characters)", "abcd"]);
});

test.each([
  ["0123456789", 0, 1, 4, "0123… (6 more characters)"],
  ["0123456789", 9, 10, 4, "(6 characters) …6789"],
  ["0123456789", 5, 6, 4, "(4 characters) …4567… (2 more characters)"],
  ["0123456789", 2, 9, 4, "(2 characters) …2345… (4 more characters)"],
  ["0123", 1, 2, 4, "0123"],
])("%j clipped around %i to %i", (text, start, end, max, expected) => {
  expect(clipAround(text, start, end, max)).toBe(expected);
});

test.each([
  ["", []],
  ["\n", ["\n"]],
  ["a", ["a"]],
  ["a\r\nb", ["a\r\n", "b"]],
  ["a\n\nb\n", ["a\n", "\n", "b\n"]],
])("the lines of %j are %j", (text, lines) => {
  expect([splitLines(text), countLines(text)]).toEqual([lines, lines.length]);
});
