import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  boundaryBefore,
  byteLength,
  clip,
  clipAround,
  countLines,
  headBytes,
  headChars,
  headLines,
  isWellFormed,
  splitLines,
  tailBytes,
  tailChars,
  tailLines,
  wellFormed,
  wholeCharacters,
} from "../../src/core/truncate.ts";
import { readable } from "../../src/toolhost/shell/output-text.ts";
import { holds } from "../support/property.ts";

const RUNS = { numRuns: 400 };

/** Of every length in UTF-8, with what is drawn as one: a flag, a family, a letter with its mark, a word from the right. */
const piece = fc.oneof(
  fc.constantFrom(
    "a",
    "\n",
    "\r\n",
    "\t",
    " ",
    "é",
    "e\u0301",
    "漢",
    "🚀",
    "👩‍👩‍👧",
    "🇫🇷",
    "שלום",
    "\ufeff",
    "\u2028",
    "…",
  ),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const whole = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
/** Also with halves of pairs. */
const broken = fc
  .array(fc.oneof(piece, fc.constantFrom("\ud83d", "\ude80")), { maxLength: 40 })
  .map((all) => all.join(""));
const limit = fc.integer({ min: -2, max: 90 });

const halves = (text: string): number => text.match(/\p{Surrogate}/gu)?.length ?? 0;

describe("O-OUT-01 cuts of any text at any limit", () => {
  test.each([
    ["headBytes", headBytes, byteLength, "head"],
    ["headChars", headChars, (text: string) => text.length, "head"],
    ["tailBytes", tailBytes, byteLength, "tail"],
    ["tailChars", tailChars, (text: string) => text.length, "tail"],
  ] as const)("%s keeps the longest end within its limit, and of it again the same", (_, cut, size, side) => {
    holds(
      fc.property(broken, limit, (text, max) => {
        const kept = cut(text, max);
        expect(side === "head" ? text.startsWith(kept) : text.endsWith(kept)).toBe(true);
        expect(size(kept)).toBeLessThanOrEqual(Math.max(0, max));
        // No half that was not there before.
        expect(halves(kept)).toBeLessThanOrEqual(halves(text));
        expect(cut(kept, max)).toBe(kept);
        const rest = side === "head" ? text.slice(kept.length) : text.slice(0, text.length - kept.length);
        expect(halves(kept) + halves(rest)).toBe(halves(text));
        const next = [...rest].at(side === "head" ? 0 : -1) ?? "";
        if (rest !== "") expect(size(kept) + size(next)).toBeGreaterThan(max);
      }),
      RUNS,
    );
  });

  test("what is kept of well-formed text is UTF-8 and JSON everywhere", () => {
    holds(
      fc.property(whole, limit, (text, max) => {
        fc.pre(isWellFormed(text));
        const cuts = [
          ...[headBytes, tailBytes, headChars, tailChars].map((cut) => cut(text, max)),
          clip(text, Math.max(0, max)),
          clipAround(text, 3, 9, Math.max(0, max)),
          headLines(text, { maxLines: 3, maxBytes: max }).text,
          tailLines(text, { maxLines: 3, maxBytes: max }).text,
        ];
        for (const kept of cuts) {
          expect(isWellFormed(kept)).toBe(true);
          expect(Buffer.from(kept, "utf8").toString("utf8")).toBe(kept);
          expect(JSON.stringify(kept)).not.toMatch(/\\ud[89a-f]/);
        }
      }),
      RUNS,
    );
  });

  test("halves of pairs become U+FFFD, each one, and nothing else changes", () => {
    holds(
      fc.property(broken, (text) => {
        const healed = wellFormed(text);
        expect([isWellFormed(healed), wellFormed(healed), healed.length]).toEqual([true, healed, text.length]);
        expect([...healed].filter((char, at) => char !== [...text][at]).length).toBe(halves(text));
      }),
      RUNS,
    );
  });

  test("a boundary in bytes cuts no character", () => {
    holds(
      fc.property(whole, fc.nat(90), (text, end) => {
        fc.pre(isWellFormed(text));
        const bytes = Buffer.from(text, "utf8");
        const boundary = boundaryBefore(bytes, end);
        expect(boundary).toBeLessThanOrEqual(Math.max(0, Math.min(end, bytes.length)));
        expect(bytes.toString("utf8", 0, boundary)).toBe(headBytes(text, end));
      }),
      RUNS,
    );
  });
});

test("O-EXEC-02 any part of the bytes of a text has whole characters in it, and less than one at each end", () => {
  holds(
    fc.property(whole, fc.nat(60), fc.nat(60), (text, from, length) => {
      fc.pre(isWellFormed(text));
      const bytes = Buffer.from(text, "utf8").subarray(from, from + length);
      const { start, end } = wholeCharacters(bytes);
      expect([start <= 3, bytes.length - end <= 3, start <= end || end === bytes.length]).toEqual([true, true, true]);
      if (bytes.length > 6)
        expect(bytes.subarray(start, end).toString("hex")).toBe(
          Buffer.from(bytes.toString("utf8", start, end)).toString("hex"),
        );
    }),
    RUNS,
  );
});

describe("O-OUT-03 what a cut says of itself", () => {
  test("kept and missing characters are all of them", () => {
    holds(
      fc.property(broken, fc.nat(60), (text, max) => {
        const shown = clip(text, max);
        if (text.length <= max) {
          expect(shown).toBe(text);
          return;
        }
        const [, kept = "", missing = ""] = /^(.*)… \((\d+) more characters\)$/s.exec(shown) ?? [];
        expect(text.startsWith(kept) && kept.length <= max).toBe(true);
        expect(kept.length + Number(missing)).toBe(text.length);
      }),
      RUNS,
    );
  });

  test("around a part, those before it, it, and those after it are all", () => {
    holds(
      fc.property(broken, fc.nat(60), fc.nat(60), fc.nat(40), (text, a, b, max) => {
        const [start, end] = [Math.min(a, b, text.length), Math.min(Math.max(a, b), text.length)];
        const shown = clipAround(text, start, end, max);
        if (text.length <= max) {
          expect(shown).toBe(text);
          return;
        }
        const before = Number(/^\((\d+) characters\) …/.exec(shown)?.[1] ?? 0);
        const after = Number(/… \((\d+) more characters\)$/.exec(shown)?.[1] ?? 0);
        const kept = text.slice(before, text.length - after);
        const lead = before > 0 ? `(${before} characters) …` : "";
        const trail = after > 0 ? `… (${after} more characters)` : "";
        expect(shown).toBe(lead + kept + trail);
        expect(kept.length).toBeLessThanOrEqual(max);
        // A border may lose the half of a pair.
        if (end - start <= max - 2) expect(before <= start && text.length - after >= end).toBe(true);
      }),
      RUNS,
    );
  });

  test.each([
    ["headLines", headLines, "head"],
    ["tailLines", tailLines, "tail"],
  ] as const)(
    "%s keeps whole lines or an end of one, and its numbers are those of what it kept",
    (_, cutLines, side) => {
      holds(
        fc.property(whole, fc.nat(6), fc.nat(60), (text, maxLines, maxBytes) => {
          const cut = cutLines(text, { maxLines, maxBytes });
          const lines = splitLines(text);
          expect([cut.totalLines, cut.totalBytes]).toEqual([lines.length, byteLength(text)]);
          expect(cut.cut).toBe(lines.length > maxLines || byteLength(text) > maxBytes);
          expect(cut.keptBytes).toBe(byteLength(cut.text));
          expect(cut.keptBytes).toBeLessThanOrEqual(maxBytes);
          expect(cut.keptLines).toBeLessThanOrEqual(maxLines);
          expect(cutLines(cut.text, { maxLines, maxBytes }).text).toBe(cut.text);
          if (!cut.cut) {
            expect(cut.text).toBe(text);
            return;
          }
          const [first, from] =
            side === "head" ? [lines[0] ?? "", 0] : [lines.at(-1) ?? "", lines.length - cut.keptLines];
          if (cut.lineCut) {
            expect([cut.keptLines, byteLength(first) > maxBytes]).toEqual([1, true]);
            expect(cut.text).toBe((side === "head" ? headBytes : tailBytes)(first, maxBytes));
            return;
          }
          expect(cut.text).toBe(lines.slice(from, from + cut.keptLines).join(""));
          const next = lines.at(side === "head" ? cut.keptLines : from - 1) ?? "";
          expect(cut.keptLines === maxLines || cut.keptBytes + byteLength(next) > maxBytes).toBe(true);
        }),
        RUNS,
      );
    },
  );

  test("lines put together are the text, and as many are counted", () => {
    holds(
      fc.property(broken, (text) => {
        expect([splitLines(text).join(""), splitLines(text).length]).toEqual([text, countLines(text)]);
        expect(splitLines(text).every((line) => line !== "" && !line.slice(0, -1).includes("\n"))).toBe(true);
      }),
      RUNS,
    );
  });
});

describe("O-OUT-04 what a program printed", () => {
  const control = fc.constantFrom(
    ...[
      "\u001b",
      "\u001b[",
      "\u001b[31",
      "\u001b[31m",
      "\u001b]0;title",
      "\u0007",
      "\u001b\\",
      "\u009b",
      "\u009d",
      "\u0090",
    ],
    ...["\r", "\b", "\0", "\u007f", "\u001bP", "\u001b^", "\u0085", "m", "\u001bc", "\u001b(B"],
  );
  const printed = fc.array(fc.oneof(piece, control), { maxLength: 60 }).map((pieces) => pieces.join(""));

  test("has no control character left, wherever the bytes begin and end and the text is cut", () => {
    holds(
      fc.property(printed, fc.nat(80), fc.nat(80), limit, (text, from, to, max) => {
        const bytes = Buffer.from(text, "utf8").subarray(from, from + to);
        const shown = readable(bytes, from > 0).text;
        for (const kept of [shown, headBytes(shown, max), tailBytes(shown, max)]) {
          // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
          expect(kept).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n|$)/);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe("O-OUT-02 hostile text", () => {
  const MIB = 1024 * 1024;
  const HOSTILE: [string, string][] = [
    ["one line", "x".repeat(2 * MIB)],
    ["newlines only", "\n".repeat(2 * MIB)],
    ["pairs only", "🚀".repeat(MIB)],
    ["halves only", "\ud83d".repeat(2 * MIB)],
    ["a line end in each", "\r\n".repeat(MIB)],
  ];

  // Quadratic work on 2 MiB would take many minutes; the bound is against that alone.
  test.each(HOSTILE)("is cut in a time that grows with its length: %s", { timeout: 60_000 }, (_, text) => {
    const limits = { maxLines: 2000, maxBytes: 50 * 1024 };
    const cuts = [headLines(text, limits), tailLines(text, limits), headLines(text, { ...limits, maxLines: 1e9 })];
    expect(cuts.map(({ keptBytes }) => keptBytes <= limits.maxBytes)).toEqual([true, true, true]);
    const wide = 16 * MIB;
    for (const cut of [headBytes, tailBytes, headChars, tailChars])
      expect(text.length - cut(text, wide).length).toBeGreaterThanOrEqual(0);
    expect(clip(text, 100).length).toBeLessThan(200);
    expect(clipAround(text, MIB, MIB + 5, 100).length).toBeLessThan(200);
    expect(splitLines(text).length).toBe(countLines(text));
  });

  test.each([
    ["sequences without an end", "\u001b[0;".repeat(MIB / 4)],
    ["one sequence without an end", `\u001b[${"0;".repeat(MIB / 2)}`],
    ["titles without an end", "\u001b]0;x".repeat(MIB / 8)],
    ["redraws", "x\r".repeat(MIB / 2)],
    ["backspaces", `${"x".repeat(MIB / 2)}${"\b".repeat(MIB / 2)}`],
    ["NUL", "\0".repeat(MIB)],
  ])("is made readable in such a time: %s", { timeout: 60_000 }, (_, text) => {
    expect(readable(Buffer.from(text), true).text.length).toBeLessThanOrEqual(4 * MIB);
  });
});
