import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { handleEdit } from "../../../src/toolhost/files/edit.ts";
import { text, Workspace } from "./fixture.ts";

/**
 * Every file here is made of byte strings (latin1, one character a byte), and so is what is expected of it: nothing in
 * this file knows how our matching works.
 */
const ENDINGS = {
  LF: ["\n", "\n", "\n", "\n", "\n"],
  CRLF: ["\r\n", "\r\n", "\r\n", "\r\n", "\r\n"],
  mixed: ["\n", "\r\n", "\r\n", "\n", "\r\n"],
  "lone CR": ["\r", "\r", "\r", "\r", "\r"],
};
type EndingName = keyof typeof ENDINGS;
const BOMS = { none: "", BOM: "\xef\xbb\xbf" };
const FINAL = { "final newline": true, "no final newline": false };
const CLOSENESSES = ["exact", "normalised"] as const;
const PLACES = ["first", "middle", "last"] as const;
/** A whole line, or from a line into its neighbour. */
const SHAPES = ["a line", "across a line break"] as const;

type Content = {
  /** In the middle of each target, as the file has it and as an edit may write it that is not exact. */
  inside: string;
  loose: string;
  /** At the end of each target's line, the same two ways. */
  end?: string;
  looseEnd?: string;
  /** Bytes of the lines between the targets, where they are not `inside`. */
  between?: string;
  binary?: true;
  notUtf8?: true;
  /** Of its 192 cells those that are refused. */
  refused?: number;
};

const CONTENTS: Record<string, Content> = {
  "trailing blanks": { inside: "x", loose: "x", end: " \t ", looseEnd: "\t\t", refused: 20 },
  tabs: { inside: "\tx\t", loose: "\tx\t" },
  NBSP: { inside: "a\u00a0b", loose: "a b" },
  "U+2028": { inside: "a\u2028b", loose: "a\u2028b" },
  NFD: { inside: "e\u0301", loose: "\u00e9" },
  ligatures: { inside: "ﬁne ﬀ", loose: "fine ff" },
  RTL: { inside: "שלום \u202eabc\u202c", loose: "שלום \u202eabc\u202c" },
  "emoji ZWJ": { inside: "👩‍👩‍👧‍👦", loose: "👩‍👩‍👧‍👦" },
  NUL: { inside: "x", loose: "x", between: "\0", binary: true, refused: 192 },
  "latin-1": { inside: "x", loose: "x", between: "caf\xe9", notUtf8: true, refused: 60 },
};

type Cell = {
  bom: keyof typeof BOMS;
  ending: EndingName;
  final: keyof typeof FINAL;
  content: string;
  closeness: (typeof CLOSENESSES)[number];
  place: (typeof PLACES)[number];
  shape: (typeof SHAPES)[number];
};

const bytesOf = (words: string) => Buffer.from(words, "utf8").toString("latin1");
const QUOTED = { file: "“q”", loose: '"q"' };

/** The five lines of a file and its endings, in bytes: targets are the first, third and fifth line. */
function linesOf({ ending, final, content }: Cell): { lines: string[]; endings: string[] } {
  const { inside, end = "", between = bytesOf(inside) } = CONTENTS[content] as Content;
  const target = (at: number) => bytesOf(`<${at} ${QUOTED.file} ${inside}>${end}`);
  const lines = [target(1), `f1 ${between} g1`, target(2), `f2 ${between} g2`, target(3)];
  const endings = ENDINGS[ending].map((bytes, at) => (at === 4 && !FINAL[final] ? "" : bytes));
  return { lines, endings };
}

/** The same target as an edit writes it. */
function written(cell: Cell, at: number): string {
  const { inside, loose, end = "", looseEnd = "", notUtf8 } = CONTENTS[cell.content] as Content;
  if (cell.closeness === "exact" || (notUtf8 && hasLooseBreak(cell))) return `<${at} ${QUOTED.file} ${inside}>${end}`;
  // Across a break blanks are left out, alone they are others.
  return `<${at} ${QUOTED.loose} ${loose}>${cell.shape === "a line" || at === 3 ? looseEnd : ""}`;
}

function hasLooseBreak({ shape, ending }: Cell): boolean {
  return shape === "across a line break" && ending !== "lone CR";
}

const OTHER_ENDING: Record<string, string> = { "\n": "\r\n", "\r\n": "\n", "\r": "\r" };

/** A request, what it replaces in bytes, and where: `line` is the one whose ending new lines take. */
function request(cell: Cell): { oldText: string; newText: string; prefix: string; suffix: string; ending: string } {
  const { lines, endings } = linesOf(cell);
  const at = PLACES.indexOf(cell.place) * 2;
  const number = at / 2 + 1;
  const joined = (from: number, to: number) =>
    lines
      .slice(from, to)
      .map((line, index) => line + endings[from + index])
      .join("");
  const bom = BOMS[cell.bom];
  const newText = "new $& 1\nnew 2\nnew é";
  if (cell.shape === "a line") {
    const suffix = endings[at] + joined(at + 1, 5);
    const ending = endings[at] || (endings[at - 1] as string);
    return { oldText: written(cell, number), newText, prefix: bom + joined(0, at), suffix, ending };
  }
  // From the target into the line after it, of the last target from the line before.
  const breakAt = cell.place === "last" ? at - 1 : at;
  const ending = endings[breakAt] as string;
  const shown = cell.closeness === "exact" ? ending : (OTHER_ENDING[ending] as string);
  if (cell.place === "last") {
    const before = (lines[3] as string).slice(0, -"g2".length);
    const oldText = `g2${shown}${written(cell, 3)}`;
    return { oldText, newText, prefix: bom + joined(0, 3) + before, suffix: endings[4] as string, ending };
  }
  const after = (lines[at + 1] as string).slice(`f${number}`.length);
  const oldText = `${written(cell, number)}${shown}f${number}`;
  const suffix = after + endings[at + 1] + joined(at + 2, 5);
  return { oldText, newText, prefix: bom + joined(0, at), suffix, ending };
}

/** Where a line ends by a lone CR nothing is loose: it is a character like others. */
function isFound(cell: Cell): boolean {
  const { end, notUtf8 } = CONTENTS[cell.content] as Content;
  if (cell.closeness === "exact") return true;
  // Of bytes that are not UTF-8 there are no forms of characters such as quotes, only line endings.
  if (notUtf8) return hasLooseBreak(cell);
  if (end === undefined || cell.ending !== "lone CR") return true;
  return cell.place === "last" && FINAL[cell.final] === false;
}

const names = <Name extends string>(table: Record<Name, unknown>) => Object.keys(table) as Name[];

const CELLS: Cell[] = names(BOMS).flatMap((bom) =>
  names(ENDINGS).flatMap((ending) =>
    names(FINAL).flatMap((final) =>
      names(CONTENTS).flatMap((content) =>
        CLOSENESSES.flatMap((closeness) =>
          PLACES.flatMap((place) => SHAPES.map((shape) => ({ bom, ending, final, content, closeness, place, shape }))),
        ),
      ),
    ),
  ),
);

const NOT_EXACT = "was not an exact match";

describe("O-EDIT-02 O-EDIT-03 O-EDIT-05: only the matched span changes, whatever the file is made of", () => {
  let ws: Workspace;
  beforeAll(() => {
    ws = new Workspace();
  });
  afterAll(() => ws.remove());

  test("every cell is there: 960 of one line, 960 across a line break", () => {
    const combinations = new Set(CELLS.map((cell) => JSON.stringify(cell)));
    const across = CELLS.filter(({ shape }) => shape === "across a line break");
    expect([combinations.size, across.length]).toEqual([1920, 960]);
  });

  test.each(names(CONTENTS))("%s", async (content) => {
    const counts = { changed: 0, refused: 0 };
    for (const cell of CELLS.filter((candidate) => candidate.content === content)) counts[await check(cell)]++;
    const { refused = 0 } = CONTENTS[content] as Content;
    expect(counts).toEqual({ changed: 192 - refused, refused });
  });

  async function check(cell: Cell): Promise<"changed" | "refused"> {
    const named = JSON.stringify(cell);
    const { lines, endings } = linesOf(cell);
    const before = BOMS[cell.bom] + lines.map((line, at) => line + endings[at]).join("");
    const { oldText, newText, prefix, suffix, ending } = request(cell);
    expect(before.startsWith(prefix) && before.endsWith(suffix), named).toBe(true);
    await ws.put("f", Buffer.from(before, "latin1"));
    ws.host.seen.clear();
    const outcome = await ws.call(handleEdit, { path: "f", edits: [{ oldText, newText }] });
    const after = await ws.bytes("f");
    const binary = (CONTENTS[cell.content] as Content).binary;
    if (binary || !isFound(cell)) {
      expect([outcome.status, after], named).toEqual(["failed", before]);
      const words = binary
        ? "`f` is binary (binary data); edit changes text only"
        : "oldText is not in the file; nothing";
      expect(text(outcome).slice(0, words.length), named).toBe(words);
      return "refused";
    }
    // A file of lone CRs has no line ending to give, so line breaks are written as they came.
    const breaks = ending === "\r" ? "\n" : ending;
    expect(after, named).toBe(prefix + bytesOf(newText).replaceAll("\n", () => breaks) + suffix);
    expect([outcome.status, text(outcome).includes(NOT_EXACT)], named).toEqual(["ok", cell.closeness !== "exact"]);
    return "changed";
  }
});
