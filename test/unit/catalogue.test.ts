import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";

/** Cases as `O-EDIT-03`, those of a turn as `T25`, attacks as `P-41`. */
const ID = /\b(?:O-[A-Z]+-\d{2}|T\d{2}|(?:FS|P|N|C|L|Y)-\d{2})\b/g;
const ROOT = join(import.meta.dirname, "../..");

type Row = { id: string; page: string; tests: string[] };

const ROWS = ["docs/cases.md", "docs/attacks.md"].flatMap(rowsOf);
const IDS_BY_TEST = new Map(testFiles().map((file) => [file, idsIn(file)]));

function rowsOf(page: string): Row[] {
  const lines = readFileSync(join(ROOT, page), "utf8").split("\n");
  return lines.flatMap((line) => {
    const [, id, ...cells] = line.split("|").map((cell) => cell.trim());
    if (!id?.match(ID)) return [];
    const tests = [...(cells.at(-2) ?? "").matchAll(/`([^`]+)`/g)].map(([, file]) => file ?? "");
    return [{ id, page, tests }];
  });
}

/** The attacks of `doctor --attack` are tests too: `test/docker/attacks.test.ts` carries out each by its id. */
function testFiles(): string[] {
  const files = ["test", "src/session/attacks"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
  );
  return files.filter((file) => file.endsWith(".ts") && basename(file) !== "catalogue.test.ts");
}

/** The ids in a file's titles and tables of titles: anywhere but in comments. */
function idsIn(file: string): Set<string> {
  const lines = readFileSync(join(ROOT, file), "utf8").split("\n");
  const code = lines.filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line)).join("\n");
  return new Set(code.match(ID));
}

describe("the catalogues of cases and attacks", () => {
  it("have one row for each id", () => {
    const ids = ROWS.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ROWS.length).toBeGreaterThan(50);
  });

  it("keep cases and attacks apart", () => {
    const wrong = ROWS.filter(({ id, page }) => /^[OT]/.test(id) !== (page === "docs/cases.md"));
    expect(wrong).toEqual([]);
  });

  it("have every id that a test names", () => {
    const known = new Set(ROWS.map(({ id }) => id));
    const missing = [...IDS_BY_TEST].flatMap(([file, ids]) =>
      [...ids].filter((id) => !known.has(id)).map((id) => `${id} of ${file}`),
    );
    expect(missing).toEqual([]);
  });

  it("name tests that exist and have the id in a title", () => {
    const wrong = ROWS.flatMap(({ id, tests }) => {
      if (tests.length === 0) return [`${id} names no test`];
      const bad = tests.filter((file) => !existsSync(join(ROOT, file)) || !IDS_BY_TEST.get(file)?.has(id));
      return bad.map((file) => `${id} is not in ${file}`);
    });
    expect(wrong).toEqual([]);
  });
});
