/**
 * Makes hostile text harmless on a terminal: every control character but newline and tab, C1 controls, bidi controls,
 * invisible characters and lone surrogates become visible escapes (`\x1b`, `\u202e`), so nothing is executed and
 * nothing is hidden. The emoji and text presentation selectors stay.
 */
export function visible(text: string): string {
  return text.replace(HOSTILE, escapeOne);
}

/** As {@link visible}, for one line: newline and tab are escaped too. */
export function visibleLine(text: string): string {
  return visible(text).replace(/[\n\t]/g, (char) => (char === "\n" ? "\\n" : "\\t"));
}

/**
 * The content of a file as a model may see it: C0 controls but tab, newline, form feed and carriage return, DEL, C1
 * controls and lone surrogates become visible escapes. All else stays, so that what is shown can be matched by an edit.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, escapeOne);
}

const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern is for
  /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f]|\p{Surrogate}/gu;

// C0 without \n and \t, DEL and C1; soft hyphen; grapheme joiner; Arabic letter mark; Hangul fillers; Khmer inherent
// vowels; Mongolian selectors; zero width and bidi marks; line and paragraph separators; bidi embeddings, overrides and
// isolates; variation selectors (256 of them carry any byte unseen); BOM; interlinear marks; tag characters.
const HOSTILE = new RegExp(
  [
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u2028-\\u202e]",
    "[\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]",
    "[\\u034f\\u17b4\\u17b5\\u180b-\\u180d\\u180f\\ufe00-\\ufe0d\\u{e0100}-\\u{e01ef}]",
    "\\p{Surrogate}",
  ].join("|"),
  "gu",
);

function escapeOne(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
}
