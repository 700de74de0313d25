/** The text of `$'…'` without its escapes. Like bash, it ends at a character of number zero. */
export function readEscapes(raw: string): string {
  const text = raw.replace(ESCAPE, (_, sequence: string) => charOf(sequence));
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

function charOf(sequence: string): string {
  const [kind = ""] = sequence;
  if (/^[xuU]./.test(sequence)) return fromCode(Number.parseInt(sequence.slice(1), 16));
  if (/^[0-7]/.test(sequence)) return fromCode(Number.parseInt(sequence, 8) & 0xff);
  if (kind === "c" && sequence.length > 1) return fromCode(sequence.charCodeAt(1) & 0x1f);
  return NAMED[sequence] ?? `\\${sequence}`;
}

function fromCode(code: number): string {
  return code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
}
