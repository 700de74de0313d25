/** How many bytes at the end of output that goes on are the beginning of a character, an escape sequence or a CRLF. */
export function unfinished(bytes: Buffer): number {
  const text = bytes.toString("latin1");
  return ENDS.exec(text)?.[0].length ?? 0;
}

// CR; the lead of a UTF-8 character with too few bytes after it; ESC, CSI without its final byte, OSC without its end.
const ENDS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern is for
  /(?:\r|[\u00c2-\u00df]|[\u00e0-\u00ef][\u0080-\u00bf]?|[\u00f0-\u00f4][\u0080-\u00bf]{0,2}|\u001b(?:[ -/]*|\[[0-?]*[ -/]*|\][^\u0007\u001b\n]*\u001b?))$/;
