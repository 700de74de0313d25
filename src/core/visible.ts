/**
 * Makes hostile text harmless on a terminal: every control character but newline and tab, C1 controls, bidi controls
 * and invisible characters become visible escapes (`\x1b`, `\u202e`), so nothing is executed and nothing is hidden.
 */
export function visible(text: string): string {
  return text.replace(HOSTILE, escapeOne);
}

/** As {@link visible}, for one line: newline and tab are escaped too. */
export function visibleLine(text: string): string {
  return visible(text).replace(/[\n\t]/g, (char) => (char === "\n" ? "\\n" : "\\t"));
}

// C0 without \n and \t, DEL and C1; soft hyphen; Arabic letter mark; Mongolian separator; zero width and bidi marks;
// line and paragraph separators; bidi embeddings, overrides and isolates; BOM; interlinear marks; tag characters.
const HOSTILE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern is for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

function escapeOne(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
}
