import { domainToASCII } from "node:url";
import { isWellFormed } from "../core/truncate.ts";

/** A host name in the one form in which names are compared, asked for and dialled; or why the text is none. */
export type CanonicalHost = { host: string } | { problem: string };

/**
 * The canonical form of a single name: lower case, A-labels, no dot at the end. Canonical names are their own form.
 * `problem` goes after the text: "`x` is an address; …". Every form a resolver takes for an address is one.
 */
export function canonicalHost(text: string): CanonicalHost {
  if (text.length > MOST_CHARS) return { problem: TOO_LONG };
  if (isAddress(text)) return { problem: ADDRESS_PROBLEM };
  if (!isWellFormed(text) || FORBIDDEN.test(text)) {
    return { problem: "has characters that no host name has; expected a name alone, such as `example.com`" };
  }
  // Takes the forms of addresses too, and cuts at what ends a host in a URL: both were refused above.
  const ascii = domainToASCII(withoutLastDot(text)).toLowerCase();
  if (isAddress(ascii)) return { problem: ADDRESS_PROBLEM };
  return labelsProblem(ascii) ?? { host: ascii };
}

/** Why an address is never admitted, as it goes after the address. */
export const ADDRESS_PROBLEM =
  "is an address, and addresses are never admitted; use a name, or `forward` for a service of this machine";

/** RFC 1035: 255 bytes on the wire, which is 253 characters. */
const MOST_BYTES = 253;
/** Unicode and escapes are never shorter than a quarter of their A-labels; beyond this nothing is worth a look. */
const MOST_CHARS = 1024;
const TOO_LONG = "is longer than a host name can be, which is 253 bytes";

// What ends a host in a URL, escapes, blanks, controls, what a decoder writes for broken bytes, and what cannot be
// seen: `domainToASCII` would drop it, so that what is shown and what is meant differ.
const FORBIDDEN =
  /[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufffd%@\\/:#?[\]<>^|*"'`{}$&;=,!+~()]/u;

/** Dotted, short, decimal, octal, hex, IPv6, with a zone or brackets, in any characters that stand for these. */
function isAddress(text: string): boolean {
  const plain = text.normalize("NFKC").replace(/[。｡]/g, ".");
  if (/^\[?[\da-f]*:[\da-f]*:[\da-f:.]*(%.*)?\]?$/i.test(plain)) return true;
  const last = withoutLastDot(plain).split(".").at(-1) ?? "";
  return /^(\d+|0x[\da-f]*)$/i.test(last);
}

function withoutLastDot(text: string): string {
  return text.replace(/[.。｡．]$/, "");
}

function labelsProblem(ascii: string): { problem: string } | undefined {
  if (ascii.length > MOST_BYTES) return { problem: TOO_LONG };
  const labels = ascii.split(".");
  if (labels.every((label) => /^(?!-)[a-z\d_-]{1,63}(?<!-)$/.test(label))) return undefined;
  if (labels.some((label) => label.length > 63)) {
    return { problem: "has a part of more than 63 bytes between dots, so it is no host name" };
  }
  return { problem: "is no host name; expected a name such as `example.com`" };
}
