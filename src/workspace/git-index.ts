/** Bytes of an entry before the object's hash, and of the hash by object format (gitformat-index(5)). */
const STAT_BYTES = 40;
const HASH_BYTES = { sha1: 20, sha256: 32 } as const;
const HEADER_BYTES = 12;
const EXTENDED = 0x4000;
/** The bits of an entry's flags that repeat the length of its name, as far as it fits. */
const LENGTH = 0x0fff;

/**
 * The paths a git index has, as data; undefined for what is no index of versions 2 to 4. Pure, and safe for any bytes.
 * The index does not say how long its hashes are, so both lengths are tried: with the wrong one an entry's name has not the length it says.
 */
export function trackedPaths(index: Buffer): string[] | undefined {
  if (index.length < HEADER_BYTES || index.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  return readEntries(index, version, HASH_BYTES.sha1) ?? readEntries(index, version, HASH_BYTES.sha256);
}

function readEntries(index: Buffer, version: number, hashBytes: number): string[] | undefined {
  const paths: string[] = [];
  let at = HEADER_BYTES;
  let name = Buffer.alloc(0);
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + STAT_BYTES + hashBytes;
    if (flagsAt + 2 > index.length) return undefined;
    const isExtended = version >= 3 && (index.readUInt16BE(flagsAt) & EXTENDED) !== 0;
    let nameAt = flagsAt + (isExtended ? 4 : 2);
    if (version === 4) {
      const { value, next } = readVarint(index, nameAt);
      if (value > name.length) return undefined;
      name = name.subarray(0, name.length - value);
      nameAt = next;
    } else name = Buffer.alloc(0);
    const end = index.indexOf(0, nameAt);
    if (end < 0) return undefined;
    name = Buffer.concat([name, index.subarray(nameAt, end)]);
    if (Math.min(name.length, LENGTH) !== (index.readUInt16BE(flagsAt) & LENGTH)) return undefined;
    paths.push(name.toString("utf8"));
    // Up to version 3 an entry is filled with one to eight zeros to a multiple of eight.
    at = version === 4 ? end + 1 : at + Math.ceil((end + 1 - at) / 8) * 8;
  }
  return at + hashBytes <= index.length ? paths : undefined;
}

/** The offset encoding of packs (gitformat-pack(5)); stops at the end of the bytes. */
function readVarint(bytes: Buffer, start: number): { value: number; next: number } {
  let next = start;
  let byte = bytes[next++] ?? 0;
  let value = byte & 0x7f;
  while (byte & 0x80 && next < bytes.length) {
    byte = bytes[next++] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next };
}
