/**
 * `newText` with the line breaks of the region it replaces, line by line where the region is mixed; the last ending goes
 * on for lines that were added. CRLF the model wrote on purpose (`oldText` had none, the region is LF) stays.
 */
export function takeEndings(newText: string, oldText: string, text: string, start: number, end: number): string {
  const endings = endingsOf(text, start, end);
  const onPurpose = !oldText.includes("\r\n");
  let line = 0;
  return newText.replace(/\r?\n/g, (written) => {
    const ending = endings[Math.min(line++, endings.length - 1)];
    if (ending === undefined) return written;
    return ending === "\n" && onPurpose ? written : ending;
  });
}

/** Of the lines that end inside the region; of the line it stands in, or the one before, where none does. */
function endingsOf(text: string, start: number, end: number): string[] {
  const inside = text.slice(start, end).match(/\r?\n/g);
  if (inside !== null) return inside;
  const after = text.indexOf("\n", end);
  const newline = after === -1 ? text.lastIndexOf("\n", start - 1) : after;
  // lastIndexOf(-1) would look at 0: a region at the very beginning has no line before it.
  if (newline === -1 || (after === -1 && start === 0)) return [];
  return [text[newline - 1] === "\r" ? "\r\n" : "\n"];
}
