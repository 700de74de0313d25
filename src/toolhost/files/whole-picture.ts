import type { ImageMime } from "./file-magic.ts";

/**
 * What keeps these bytes from being a picture from their first to their last, in words; undefined when nothing does. A
 * model's server refuses a request for one that is cut or only begins like a picture, and every later request of the
 * session would hold it too. Looks at the frame of the format only, not at what is compressed in it.
 */
export function pictureFault(mime: ImageMime, bytes: Buffer): string | undefined {
  switch (mime) {
    case "image/png":
      return pngFault(bytes);
    case "image/jpeg":
      return jpegFault(bytes);
    case "image/gif":
      return gifFault(bytes);
    case "image/webp":
      return webpFault(bytes);
  }
}

const CUT = "it is cut off";
const NOT_WHOLE = "its inside is no such picture";
const EMPTY = "it has no width or no height";

/** PNG 1.2, 3.2: chunks of length, type, data and checksum; IHDR first, IEND last, IDAT between. */
function pngFault(bytes: Buffer): string | undefined {
  let hasData = false;
  for (let at = 8; at + 12 <= bytes.length; ) {
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (at === 8 && type !== "IHDR") return NOT_WHOLE;
    if (at === 8 && (bytes.length < 24 || bytes.readUInt32BE(16) === 0 || bytes.readUInt32BE(20) === 0)) return EMPTY;
    if (!/^[A-Za-z]{4}$/.test(type)) return NOT_WHOLE;
    if (type === "IEND") return hasData ? undefined : NOT_WHOLE;
    hasData ||= type === "IDAT";
    at += 12 + bytes.readUInt32BE(at);
  }
  return CUT;
}

/** ITU T.81, B.1: segments of marker and length up to the scan, whose data end with EOI. */
function jpegFault(bytes: Buffer): string | undefined {
  let hasFrame = false;
  let at = 2;
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) return NOT_WHOLE;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (marker === 0xda) return scanFault(bytes, at, hasFrame);
    if (isFrame(marker)) {
      if (at + 9 > bytes.length) return CUT;
      if (bytes.readUInt16BE(at + 7) === 0) return EMPTY;
      hasFrame = true;
    }
    at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return CUT;
}

/** An end before the scan is that of a small picture inside of this one. */
function scanFault(bytes: Buffer, at: number, hasFrame: boolean): string | undefined {
  if (!hasFrame) return NOT_WHOLE;
  return bytes.lastIndexOf("\xff\xd9", undefined, "latin1") < at ? CUT : undefined;
}

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** GIF89a, 18 to 27: the screen, blocks, at least one picture, the trailer. */
function gifFault(bytes: Buffer): string | undefined {
  if (bytes.length < 13) return CUT;
  if (bytes.readUInt16LE(6) === 0 || bytes.readUInt16LE(8) === 0) return EMPTY;
  let hasPicture = false;
  let at = 13 + colours(bytes[10] ?? 0);
  while (at < bytes.length) {
    const block = bytes[at];
    if (block === 0x3b) return hasPicture ? undefined : NOT_WHOLE;
    if (block !== 0x21 && block !== 0x2c) return NOT_WHOLE;
    hasPicture ||= block === 0x2c;
    at = afterBlocks(bytes, block === 0x21 ? at + 2 : at + 11 + colours(bytes[at + 9] ?? 0));
  }
  return CUT;
}

/** Bytes of the colour table that these flags announce. */
function colours(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

function afterBlocks(bytes: Buffer, from: number): number {
  let at = from;
  for (let size = bytes[at]; size !== undefined && size !== 0; size = bytes[at]) at += size + 1;
  return at + 1;
}

/** RFC 9649, 2.3 to 2.5: the size of what follows, and a first chunk of one of three kinds. */
function webpFault(bytes: Buffer): string | undefined {
  if (bytes.length < 30 || bytes.length < 8 + bytes.readUInt32LE(4)) return CUT;
  return /^VP8[ LX]$/.test(bytes.toString("latin1", 12, 16)) && bytes.readUInt32LE(16) > 0 ? undefined : NOT_WHOLE;
}
