import { refuseAmbiguous, shown } from "./words.ts";

/** Header fields by their names in lower case; each name's values in order. */
export type Fields = ReadonlyMap<string, readonly string[]>;

const NAME = /^[!#$%&'*+.^_`|~\da-z-]+$/i;
/** What says where a request ends and whom it is for: programs that read `_` as `-` must not see another one. */
const FRAMING = ["content-length", "transfer-encoding", "host", "upgrade"];

/** The fields of a header or trailer section. @throws EgressRefusal for what two programs may read in two ways. */
export function parseFields(lines: readonly string[]): Fields {
  const fields = new Map<string, string[]>();
  for (const line of lines) {
    if (/^[ \t]/.test(line)) throw refuseAmbiguous("a header line is folded");
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    if (!NAME.test(name)) throw refuseAmbiguous(`a header line is malformed: ${quoted(line)}`);
    const value = trimBlanks(line.slice(colon + 1));
    const key = name.toLowerCase();
    if (key.includes("_") && FRAMING.includes(key.replaceAll("_", "-"))) {
      throw refuseAmbiguous(`a header is named ${quoted(name)}, which some servers take for another`);
    }
    const values = fields.get(key);
    if (values) values.push(value);
    else fields.set(key, [value]);
  }
  return fields;
}

/** The members of a field that is a list, in lower case. */
export function listIn(fields: Fields, name: string): string[] {
  const members = (fields.get(name) ?? []).flatMap((value) => value.split(","));
  return members.map((member) => trimBlanks(member).toLowerCase()).filter((member) => member !== "");
}

/** Blanks and tabs alone, and in one pass: a pattern for both ends takes the square of the line's length. */
function trimBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function isBlank(char: string | undefined): boolean {
  return char === " " || char === "\t";
}

function quoted(text: string): string {
  return `\`${shown(text)}\``;
}
