import { HOLE } from "./shell-line.ts";

/**
 * The text of `$'…'` without its escapes. Like bash, it ends at a character of number zero. It is a hole where versions
 * of bash or settings of the language differ.
 */
export function readEscapes(raw: string): string {
  let isSure = true;
  const text = raw.replace(ESCAPE, (_, sequence: string) => {
    const char = charOf(sequence);
    isSure &&= char !== undefined;
    return char ?? "";
  });
  if (!isSure) return HOLE;
  const end = text.indexOf("\0");
  return end === -1 ? text : text.slice(0, end);
}

const ESCAPE = /\\(x[\dA-Fa-f]{1,2}|u[\dA-Fa-f]{1,4}|U[\dA-Fa-f]{1,8}|[0-7]{1,3}|c[\s\S]|[\s\S])/gu;

const NAMED: Record<string, string> = {
  a: "\u0007",
  b: "\b",
  e: "\u001b",
  E: "\u001b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "?": "?",
};

function charOf(sequence: string): string | undefined {
  const [kind = ""] = sequence;
  if (/^[xuU]./.test(sequence)) return fromCode(Number.parseInt(sequence.slice(1), 16));
  if (/^[0-7]/.test(sequence)) return fromCode(Number.parseInt(sequence, 8) & 0xff);
  if ("cxuU".includes(kind)) return undefined;
  return NAMED[sequence] ?? `\\${sequence}`;
}

function fromCode(code: number): string | undefined {
  return code > 0x7f ? undefined : String.fromCodePoint(code);
}
