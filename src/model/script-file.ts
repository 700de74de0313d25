import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import type * as z from "zod";
import { GloveboxError, messageOf, systemCode } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import { SCRIPT_KEYS, type ScriptItem, scriptSchema } from "./script-schema.ts";

const MAX_BYTES = 1024 * 1024;

/** An item of a script and the line it begins at. */
export type PlacedItem = { item: ScriptItem; line: number };

/** The items of the script at `path`; `shown` is the path as the person wrote it. Throws `SCRIPT_INVALID`. */
export async function readScript(path: string, shown: string): Promise<PlacedItem[]> {
  return parseScript(await readBounded(path, shown), shown);
}

/** As {@link readScript}, of a text that has been read already. */
export function parseScript(text: string, shown: string): PlacedItem[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const place = (offset: number) => `line ${lines.linePos(offset).line || 1}`;
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault) throw invalid(shown, place(fault.pos[0]), firstLine(fault.message));
  if (document.contents === null) throw invalid(shown, undefined, "it is empty; expected a list of items");
  const parsed = scriptSchema.safeParse(plainValue(document, shown));
  if (!parsed.success) {
    const { offset, problem } = describe(parsed.error.issues[0], document);
    throw invalid(shown, place(offset), problem);
  }
  return parsed.data.map((item, index) => ({ item, line: lines.linePos(offsetOf(document, [index])).line }));
}

async function readBounded(path: string, shown: string): Promise<string> {
  let file: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, opening a named pipe waits for ever.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (stat.isDirectory()) throw invalid(shown, undefined, "it is a directory; expected a YAML file");
    if (!stat.isFile()) throw invalid(shown, undefined, "it is not a regular file");
    if (stat.size > MAX_BYTES) throw invalid(shown, undefined, `it has ${stat.size} bytes; at most 1 MiB is read`);
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.readFile());
  } catch (thrown) {
    if (thrown instanceof GloveboxError) throw thrown;
    if (thrown instanceof TypeError) throw invalid(shown, undefined, "it is not UTF-8 text");
    const code = systemCode(thrown);
    throw invalid(shown, undefined, code === "ENOENT" ? "there is no such file" : `it cannot be read (${code})`);
  } finally {
    await file?.close();
  }
}

/** Aliases are limited: a few lines of them can stand for gigabytes. */
function plainValue(document: Document.Parsed, shown: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (thrown) {
    throw invalid(shown, undefined, firstLine(messageOf(thrown)));
  }
}

function describe(issue: z.core.$ZodIssue | undefined, document: Document.Parsed): { offset: number; problem: string } {
  const path = issue?.path ?? [];
  if (issue?.code !== "unrecognized_keys") {
    const where = path.length === 0 ? "" : `\`${pathText(path)}\`: `;
    return { offset: offsetOf(document, path), problem: `${where}${issue?.message ?? "not a script"}` };
  }
  const key = issue.keys[0] ?? "";
  const closest = nearest(key, SCRIPT_KEYS);
  const hint = closest ? `; did you mean \`${closest}\`?` : "";
  return {
    offset: offsetOfKey(document, path, key),
    problem: `\`${visibleLine(clip(key, 60))}\` is not a key here${hint}`,
  };
}

function pathText(path: readonly PropertyKey[]): string {
  const [item, ...rest] = path;
  return visibleLine([`item ${Number(item) + 1}`, ...rest.map(String)].join("."));
}

function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}

function offsetOfKey(document: Document.Parsed, path: readonly PropertyKey[], key: string): number {
  const map = document.getIn(path, true);
  const pair = isMap(map) ? map.items.find(({ key: node }) => isScalar(node) && String(node.value) === key) : undefined;
  return pair && isNode(pair.key) && pair.key.range ? pair.key.range[0] : offsetOf(document, path);
}

function invalid(shown: string, place: string | undefined, problem: string): GloveboxError {
  return new GloveboxError("SCRIPT_INVALID", `Script \`${shown}\`${place ? `, ${place}` : ""}: ${problem}`, {
    hint: "A script is a YAML list with one item a request: `- text: Done.`",
  });
}

function firstLine(text: string): string {
  return visibleLine(clip(text.split("\n")[0] ?? "", 300));
}
