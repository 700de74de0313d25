/** An IPv4 or IPv6 address as its 4 or 16 bytes. */
export type Ip = readonly number[];

/** The bytes of an address as name servers and sockets write it; undefined for any other text, a zone included. */
export function parseIp(text: string): Ip | undefined {
  return text.includes(":") ? parseV6(text) : parseV4(text);
}

function parseV4(text: string): Ip | undefined {
  const parts = text.split(".");
  // A leading zero is octal to some and decimal to others.
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function parseV6(text: string): Ip | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, index) =>
    half === "" ? [] : groups(half, { mayEndInV4: index === halves.length - 1 }),
  );
  if (!head || (halves.length === 2 && !tail)) return undefined;
  if (!tail) return head.length === 16 ? head : undefined;
  const missing = 16 - head.length - tail.length;
  return missing < 2 ? undefined : [...head, ...Array<number>(missing).fill(0), ...tail];
}

/** The bytes of groups between colons; an IPv4 address may only be the very last of them. */
function groups(text: string, { mayEndInV4 }: { mayEndInV4: boolean }): number[] | undefined {
  const parts = text.split(":");
  const bytes: number[] = [];
  for (const [index, part] of parts.entries()) {
    const v4 = mayEndInV4 && index === parts.length - 1 && part.includes(".") ? parseV4(part) : undefined;
    if (v4) bytes.push(...v4);
    else if (/^[\da-f]{1,4}$/i.test(part)) bytes.push(Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255);
    else return undefined;
  }
  return bytes;
}

/** A block of addresses, as `10.0.0.0/8`. */
export type Block = { bytes: Ip; bits: number };

/** @throws Error for what is no block: blocks are ours. */
export function parseBlock(text: string): Block {
  const [address = "", bits] = text.split("/");
  const bytes = parseIp(address);
  if (!bytes || bits === undefined) throw new Error(`\`${text}\` is no block of addresses`);
  return { bytes, bits: Number(bits) };
}

export function isInBlock(ip: Ip, { bytes, bits }: Block): boolean {
  if (ip.length !== bytes.length) return false;
  return bytes.every((byte, index) => {
    const shift = 8 - Math.min(8, Math.max(0, bits - index * 8));
    return byte >> shift === (ip[index] ?? 0) >> shift;
  });
}
