import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { FILE_HANDLERS, handle } from "../../src/toolhost/handle.ts";
import { validateArguments } from "../../src/tools/arguments.ts";
import { expectedEdit, isLooseChange, type ModelEdit, utf8 } from "../support/edit-model.ts";
import { fuzz } from "../support/fuzz.ts";
import { text, Workspace } from "../unit/toolhost/fixture.ts";

/** Few enough that texts repeat, overlap and nearly match. */
const ATOMS = [
  ...["a", "b", "ab", "foo", "  ", " ", "\t", "x = 1;", "}", "$&", "$1", "\\n", "'", '"', "-", "...", "fi"],
  ...["\n", "\n", "\n", "\r\n", "\r\n", "\r", " \n", "\t\r\n", "\n\n", "\r\r\n"],
  ...[
    "é",
    "e\u0301",
    "ﬁ",
    "“",
    "”",
    "’",
    "—",
    "\u00a0",
    "\u2028",
    "\u3000",
    "…",
    "漢",
    "🚀",
    "👩‍👩‍👧",
    "שלום",
    "\u202e",
  ],
  ...["\ufeff", "\ufffd", "\u001b[m", "\u007f", "Å", "\u212b", "한", "\u1112\u1161\u11ab", "ｶﾞ"],
];
const BYTES = ["\xe9", "\xff", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\x80", "\xf0\x9f"];

const words = (maxLength: number) => fc.array(fc.constantFrom(...ATOMS), { maxLength }).map((atoms) => atoms.join(""));
const anyText = fc.oneof({ weight: 6, arbitrary: words(6) }, fc.string({ unit: "binary", maxLength: 8 }));

/** A file as latin1: text of our atoms, such text with foreign bytes in it, or any bytes at all. */
const anyFile = fc.oneof(
  { weight: 6, arbitrary: words(40).map(utf8) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...ATOMS).map(utf8) }, fc.constantFrom(...BYTES)), {
        maxLength: 30,
      })
      .map((parts) => parts.join("")),
  },
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
);

/** How a piece of the file comes back in a request. */
const CHANGES: readonly ((piece: string) => string)[] = [
  ...Array<(piece: string) => string>(14).fill((piece) => piece),
  (piece) => piece.replaceAll("\r\n", "\n"),
  (piece) => piece.replace(/\r?\n/g, "\r\n"),
  (piece) => piece.replace(/[ \t]+(?=\r?\n|$)/g, ""),
  (piece) => `${piece} `,
  (piece) => piece.normalize("NFKC"),
  (piece) => piece.normalize("NFD"),
  (piece) => piece.replace(/[“”]/g, '"').replaceAll("—", "-").replaceAll("\u00a0", " "),
  (piece) => `${piece}!`,
  (piece) => piece.slice(0, -1),
];

type Draft = { from: number; length: number; change: number; foreign: string | undefined; newText: string };

const anyDraft: fc.Arbitrary<Draft> = fc.record({
  from: fc.nat(1_000_000),
  length: fc.oneof(
    fc.integer({ min: 0, max: 3 }),
    { weight: 4, arbitrary: fc.integer({ min: 3, max: 12 }) },
    { weight: 3, arbitrary: fc.integer({ min: 10, max: 60 }) },
  ),
  change: fc.nat(CHANGES.length - 1),
  foreign: fc.oneof({ weight: 14, arbitrary: fc.constant(undefined) }, anyText),
  newText: anyText,
});

const someDrafts = fc.oneof(
  { weight: 3, arbitrary: fc.array(anyDraft, { minLength: 1, maxLength: 1 }) },
  { weight: 2, arbitrary: fc.array(anyDraft, { minLength: 2, maxLength: 2 }) },
  fc.array(anyDraft, { minLength: 3, maxLength: 5 }),
);

function editOf(file: string, { from, length, change, foreign, newText }: Draft): ModelEdit {
  const shown = Buffer.from(file, "latin1").toString("utf8");
  const at = from % (shown.length + 1);
  const piece = shown.slice(at, at + length);
  return { oldText: foreign ?? (CHANGES[change] as (piece: string) => string)(piece), newText };
}

type Changed = { status: string; words: string; after: string };

/** What files without text begin with, also without a NUL: marks of UTF-16, programs, archives, arrays. */
const BEGINNINGS = [
  ...["\xff\xfe", "\xfe\xff", "\x7fELF", "\xca\xfe\xba\xbe", "\xcf\xfa\xed\xfe"],
  ...["%PDF-", "PK\x03\x04", "\x1f\x8b", "BZh91AY&SY", "(\xb5/\xfd", "7z\xbc\xaf'\x1c", "\x93NUMPY"],
];

describe("edits of files made of anything", () => {
  let ws: Workspace;
  const seen = { changed: 0, refused: 0, loose: 0, binary: 0 };
  beforeAll(() => {
    ws = new Workspace();
  });
  afterAll(() => {
    ws.remove();
    console.log(`edits: ${JSON.stringify(seen)}`);
  });

  /** As a call arrives: arguments validated, the handler's throws turned into an outcome. */
  async function change(before: string, edits: readonly ModelEdit[]): Promise<Changed> {
    await ws.put("f", Buffer.from(before, "latin1"));
    ws.host.seen.clear();
    const parsed = validateArguments("edit", { path: "f", edits });
    if (!parsed.ok) throw new Error(parsed.problem);
    const outcome = await handle(FILE_HANDLERS.edit as Parameters<typeof handle>[0], parsed.args, ws.context);
    return { status: outcome.status, words: text(outcome), after: await ws.bytes("f") };
  }

  fuzz("only what was asked for changes, or nothing does", () =>
    fc.asyncProperty(anyFile, someDrafts, async (before, drafts) => {
      const edits = drafts.map((draft) => editOf(before, draft));
      compare(before, edits, await change(before, edits));
      expect(await ws.leftovers()).toEqual([]);
    }),
  );

  function compare(before: string, edits: readonly ModelEdit[], { status, words: said, after }: Changed): void {
    if (status !== "ok") expect([status, after]).toEqual(["failed", before]);
    const expected = /is binary/.test(said) ? ({ kind: "binary" } as const) : expectedEdit(before, edits);
    seen[expected.kind]++;
    if (expected.kind === "binary") {
      expect(before.includes("\0") || BEGINNINGS.some((bytes) => before.startsWith(bytes))).toBe(true);
    }
    if (expected.kind === "refused") {
      expect([status, said]).toEqual(["failed", expect.stringMatching(expected.words)]);
    }
    if (expected.kind === "changed") {
      expect([status, after]).toEqual(["ok", expected.bytes]);
      expect(/not an exact match/.test(said)).toBe(!expected.exact);
    }
  }

  fuzz("what is not found exactly is replaced where it is the same but for its forms, and there alone", () =>
    fc.asyncProperty(words(20), fc.array(anyDraft, { minLength: 1, maxLength: 3 }), async (content, drafts) => {
      const before = utf8(content);
      const edits = drafts.map((draft, at) => {
        const tokens = [`<<${at}:`, `:${at}>>`] as const;
        const { oldText, newText } = editOf(before, {
          ...draft,
          newText: draft.newText.replace(/\p{Surrogate}/gu, "?"),
        });
        return { oldText, newText: tokens[0] + newText + tokens[1], tokens };
      });
      const { status, after } = await change(
        before,
        edits.map(({ oldText, newText }) => ({ oldText, newText })),
      );
      if (status === "ok") expect(isLooseChange(before, after, edits)).toBe(true);
      else expect([status, after]).toEqual(["failed", before]);
    }),
  );
});
