import { visibleLine } from "../../core/visible.ts";

// Well-formed UTF-8 by Unicode's table 3-7, over bytes read as latin1; what is left over matches one byte at a time.
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes are what this pattern is for
  /((?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})+)|([\x80-\xff])/g;

/** A file name's bytes as one line of text: controls and bytes that are not UTF-8 as escapes, so each name is one entry. */
export function shownName(bytes: Buffer): string {
  return bytes
    .toString("latin1")
    .replace(SEQUENCE, (_, valid: string | undefined, invalid: string | undefined) =>
      valid === undefined
        ? `\\x${invalid?.charCodeAt(0).toString(16)}`
        : visibleLine(Buffer.from(valid, "latin1").toString()),
    );
}

/** Said once, when a listing holds names that cannot be typed as they are shown. */
export const ESCAPED_NAMES =
  "Escapes such as \\x1b or \\n in names stand for characters or bytes that cannot be shown; in bash quote them as $'a\\nb'";
