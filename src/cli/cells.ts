import { headChars } from "../core/truncate.ts";

/** How many columns of a terminal `text` takes: two for what is wide in East Asian fonts, none for combining marks. */
export function widthOf(text: string): number {
  let width = 0;
  for (const char of text) width += cellsOf(char);
  return width;
}

/** At most `columns` of `text`, the last of them `…` when something was cut. */
export function clipToWidth(text: string, columns: number): string {
  // Text that cannot fit is not measured to its end: it may be a megabyte.
  const head = headChars(text, columns * 2 + 2);
  if (head.length === text.length && widthOf(text) <= columns) return text;
  let width = 0;
  let kept = "";
  for (const char of head) {
    width += cellsOf(char);
    if (width > columns - 1) break;
    kept += char;
  }
  return columns < 1 ? "" : `${kept}…`;
}

function cellsOf(char: string): number {
  if (char >= " " && char <= "~") return 1;
  if (/^\p{M}$/u.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}

// Hangul, CJK, kana, fullwidth forms, and everything that is drawn as an emoji.
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}/u;
