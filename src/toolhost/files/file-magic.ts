import type { ImagePart } from "../../core/messages.ts";

export type ImageMime = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** The kind of picture these first bytes begin, by content and never by name. */
export function imageMime(head: Buffer): (ImagePart["mime"] & ImageMime) | undefined {
  if (startsWith(head, "\x89PNG\r\n\x1a\n")) return "image/png";
  if (startsWith(head, "\xff\xd8\xff")) return "image/jpeg";
  if (startsWith(head, "GIF87a") || startsWith(head, "GIF89a")) return "image/gif";
  if (startsWith(head, "RIFF") && head.toString("latin1", 8, 12) === "WEBP") return "image/webp";
  return undefined;
}

/** Bytes looked at to tell text from binary: what git and ripgrep use. */
export const SNIFF_BYTES = 8192;

/** What these first bytes are when they are not text, in words; undefined for text. */
export function binaryKind(head: Buffer): string | undefined {
  const known = MAGIC.find(([magic]) => startsWith(head, magic));
  if (known) return known[1];
  return head.subarray(0, SNIFF_BYTES).includes(0) ? "binary data" : undefined;
}

/** The name that iconv has for a kind of text; undefined for what is none. */
export function charsetOf(kind: string): string | undefined {
  return CHARSETS[kind];
}

function startsWith(head: Buffer, magic: string): boolean {
  return head.toString("latin1", 0, magic.length) === magic;
}

const CHARSETS: Record<string, string> = {
  "UTF-32 text": "UTF-32LE",
  "UTF-16 text (little endian)": "UTF-16LE",
  "UTF-16 text (big endian)": "UTF-16BE",
};

const MAGIC: readonly (readonly [string, string])[] = [
  ["\xff\xfe\0\0", "UTF-32 text"],
  ["\xff\xfe", "UTF-16 text (little endian)"],
  ["\xfe\xff", "UTF-16 text (big endian)"],
  ["\x7fELF", "ELF program or library"],
  ["%PDF-", "PDF document"],
  ["PK\x03\x04", "zip archive (or a format made of one)"],
  ["\x1f\x8b", "gzip data"],
  ["BZh91AY&SY", "bzip2 data"],
  ["\xfd7zXZ\0", "xz data"],
  ["\x28\xb5\x2f\xfd", "zstd data"],
  ["7z\xbc\xaf\x27\x1c", "7-zip archive"],
  ["SQLite format 3\0", "SQLite database"],
  ["\0asm", "WebAssembly module"],
  ["\xca\xfe\xba\xbe", "Java class or Mach-O program"],
  ["\xcf\xfa\xed\xfe", "Mach-O program"],
  ["MZ\x90\0", "Windows program"],
  ["\0\0\x01\0", "icon"],
  ["OggS\0", "Ogg media"],
  ["ID3\x03\0", "MP3 audio"],
  ["ID3\x04\0", "MP3 audio"],
  ["\0\x01\0\0\0", "TrueType font"],
  ["wOF2\0", "WOFF2 font"],
  ["\x93NUMPY", "NumPy array"],
];
