import { isUtf8 } from "node:buffer";
import { boundaryBefore, headLines, type Limits } from "../../core/truncate.ts";
import { escapeControls } from "../../core/visible.ts";

/** What of a file's bytes is shown. `rawBytes` counts the file's own bytes, whatever they look like in `text`. */
export type ShownText = {
  text: string;
  lines: number;
  rawBytes: number;
  /** The one line shown is not whole. */
  lineCut: boolean;
  /** Bytes that are not UTF-8 are shown as U+FFFD. */
  lossy: boolean;
  /** Control characters are shown as escapes. */
  escaped: boolean;
  bom: boolean;
};

const BOM = "\ufeff";

/** The whole lines of `bytes` within the limits, of a first line above them its beginning. `bytes` begins a line. */
export function showText(bytes: Buffer, limits: Limits, atStart: boolean): ShownText {
  const decoded = decode(bytes, atStart);
  const cut = headLines(decoded.text, limits);
  if (cut.cut && cut.keptLines === 1 && !cut.text.endsWith("\n")) return showLongLine(bytes, limits, atStart);
  const rawBytes = offsetOfLine(bytes, cut.keptLines);
  return { ...decode(bytes.subarray(0, rawBytes), atStart), lines: cut.keptLines, rawBytes, lineCut: false };
}

// Cut in the file's own bytes, so that the place to continue at is exact: clean text is shown as it is, other bytes can
// grow fourfold (one control character is `\x1b`).
function showLongLine(bytes: Buffer, limits: Limits, atStart: boolean): ShownText {
  const whole = boundaryBefore(bytes, limits.maxBytes);
  const clean = decode(bytes.subarray(0, whole), atStart);
  const rawBytes = clean.escaped || clean.lossy ? boundaryBefore(bytes, Math.floor(limits.maxBytes / 4)) : whole;
  return { ...decode(bytes.subarray(0, rawBytes), atStart), lines: 1, rawBytes, lineCut: true };
}

function decode(bytes: Buffer, atStart: boolean): Pick<ShownText, "text" | "lossy" | "escaped" | "bom"> {
  const raw = bytes.toString("utf8");
  const bom = atStart && raw.startsWith(BOM);
  const content = bom ? raw.slice(1) : raw;
  const text = escapeControls(content);
  return { text, lossy: !isUtf8(bytes), escaped: text !== content, bom };
}

function offsetOfLine(bytes: Buffer, lines: number): number {
  let at = 0;
  for (let line = 0; line < lines; line++) {
    const newline = bytes.indexOf(0x0a, at);
    if (newline === -1) return bytes.length;
    at = newline + 1;
  }
  return at;
}
