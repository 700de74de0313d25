import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const SRC = join(ROOT, "src");

/** Beginnings and ends of strings that are no text somebody reads. A new one is a deliberate change here. */
const NO_TEXT: Record<string, string> = {
  'createHash("sha256").*.digest("hex").slice(0, N)': "a digest: fewer digits are a shorter name for the same thing",
  'sum.digest("hex").slice(0, N)': "a digest",
  "item.sha256.slice(0, N)": "a digest",
  "sha256.slice(0, N)": "a digest",
  "info.Id.slice(0, N)": "a container's id, as every tool of the engine shortens it",
  "request.sessionId.slice(-N)": "the random end of an id of ours",
  "hex.slice(0, N)": "the first group of a UUID",
  "new Date().toISOString().slice(0, N)": "the day of a time",
  "raw.slice(0, -N)": "a line without its CRLF, which was found before",
  "line.slice(0, -N)": "a line without its CR, which was found before",
  "text.slice(-length)": "an end that is compared with a secret's beginning",
  "pattern.slice(0, ANCHOR_CHARS)": "a beginning that is searched for",
  'file.slice(0, -".yaml".length)': "a name without its extension",
  "bytes.slice(0, -nonce.length - N)": "a saved state without the mark at its end",
};

type Found = { at: string; code: string };

/** Beginnings and ends of strings in `src` whose length somebody set: an index that was looked up shortens nothing. */
function shortenings(): Found[] {
  const config = join(ROOT, "tsconfig.json");
  const { fileNames, options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(config, ts.sys.readFile).config,
    ts.sys,
    ROOT,
  );
  const program = ts.createProgram(
    fileNames.filter((file) => file.startsWith(SRC)),
    options,
  );
  const checker = program.getTypeChecker();
  const found: Found[] = [];
  for (const source of program.getSourceFiles()) {
    if (!source.fileName.startsWith(SRC) || source.fileName.endsWith("core/truncate.ts")) continue;
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && isShortening(node, checker)) {
        const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
        found.push({ at: `${source.fileName.slice(ROOT.length + 1)}:${line}`, code: shape(node.getText()) });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

function isShortening(call: ts.CallExpression, checker: ts.TypeChecker): boolean {
  if (!ts.isPropertyAccessExpression(call.expression)) return false;
  const name = call.expression.name.text;
  if (!["slice", "substring", "substr"].includes(name)) return false;
  const receiver = checker.getNonNullableType(checker.getTypeAtLocation(call.expression.expression));
  if (!isText(receiver)) return false;
  // One way to take a part of a string is enough, and these two have surprises of their own.
  if (name !== "slice") return true;
  const [from, to] = call.arguments.map((argument) => argument.getText());
  if (to === undefined) return from?.startsWith("-") ?? false;
  return from === "0" && isSetLength(to);
}

function isText(type: ts.Type): boolean {
  return type.isUnionOrIntersection() ? type.types.some(isText) : (type.flags & ts.TypeFlags.StringLike) !== 0;
}

/** A number, a constant, something named as a limit, or the end counted from behind. */
function isSetLength(text: string): boolean {
  if (text.startsWith("-") || /^\d{2,}$|^[2-9]$|\b[A-Z][A-Z_]{2,}\b/.test(text)) return true;
  return /max(?!\()|limit|most|chars|columns|width/i.test(text.replaceAll("Math.max(", ""));
}

/** The call without what differs where the same thing is done. */
function shape(code: string): string {
  return code
    .replace(/\s+/g, " ")
    .replace(/^createHash\("sha256"\).*\.digest/, 'createHash("sha256").*.digest')
    .replace(/(?<=slice\(.*)\b\d{1,4}\b(?=\)$)/, (digits) => (digits === "0" ? digits : "N"));
}

test("O-OUT-01 no text is shortened but by core/truncate", () => {
  const found = shortenings();
  expect(found.filter(({ code }) => !Object.hasOwn(NO_TEXT, code))).toEqual([]);
  // What is gone is taken out of the list.
  expect(Object.keys(NO_TEXT).filter((code) => !found.some((one) => one.code === code))).toEqual([]);
}, 60_000);
