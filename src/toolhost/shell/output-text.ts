/** Turns what a program wrote for a terminal into text a model can read. */
import { wholeCharacters } from "../../core/truncate.ts";

// CSI; OSC; DCS, SOS, PM, APC; all other escapes. An unterminated one ends with its line, so that it swallows no more.
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern is for
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b[PX^_]|[\u0090\u0098\u009e\u009f])[^\u001b\u009c\n]*(?:\u001b\\|\u009c)?|\u001b[ -/]*[0-~]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern is for
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern is for
const OVERSTRIKE = /[^\n\u0008]\u0008/g;

/** The shown text and how many of its characters had to be replaced, as a share from 0 to 1. */
export type Readable = { text: string; unreadable: number };

/**
 * Decodes bytes that may begin inside a character; drops escape sequences, keeps the last state of a line that was
 * redrawn with carriage returns, and spells other control characters (`\x00`).
 */
export function readable(bytes: Buffer, beginsInside: boolean): Readable {
  let text = bytes.toString("utf8", beginsInside ? wholeCharacters(bytes).start : 0);
  if (text.includes("\u001b") || /[\u0090-\u009f]/.test(text)) text = text.replace(ESCAPES, "");
  if (text.includes("\b")) text = overstrike(text);
  if (text.includes("\r")) text = text.split("\n").map(lastState).join("\n");
  const length = text.length;
  let replaced = 0;
  text = text.replace(CONTROLS, (char) => {
    replaced++;
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  replaced += text.split("\ufffd").length - 1;
  return { text, unreadable: length === 0 ? 0 : replaced / length };
}

/** What a terminal shows in the end; `\r\n` is a line ending and stays. */
function lastState(line: string): string {
  if (!line.includes("\r")) return line;
  const end = line.endsWith("\r") ? "\r" : "";
  const states = line.split("\r").filter((state) => state !== "");
  return (states.at(-1) ?? "") + end;
}

function overstrike(text: string): string {
  let before = "";
  for (let round = 0; round < 8 && before !== text; round++) {
    before = text;
    text = text.replace(OVERSTRIKE, "");
  }
  return text;
}
