/** Messages of DNS as far as a resolver without a zone needs them: one question in, one record out (RFC 1035, 6891). */

export const TYPE = { A: 1, PTR: 12, TXT: 16, AAAA: 28, SRV: 33, OPT: 41, SVCB: 64, HTTPS: 65 } as const;
export const RCODE = {
  noError: 0,
  formatError: 1,
  serverFailure: 2,
  nameError: 3,
  notImplemented: 4,
  refused: 5,
} as const;
/** Of EDNS: the lower four bits are in the header, the rest in the OPT record. */
const BAD_VERSION = 16;

const CLASS_IN = 1;
const HEADER_BYTES = 12;
const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
/** What we say we take over UDP; nothing we send is longer than 512 bytes. */
const OUR_UDP_BYTES = 1232;
const OPT_BYTES = 11;

export type Question = {
  /** The name in lower case, without a dot at the end; bytes that are no text, dots and backslashes as `\DDD`. */
  name: string;
  type: number;
  /** What a reply to it begins with. */
  echo: Echo;
};

/** The header's id and flags, and the question exactly as it was asked: with its case, which a reply must repeat. */
type Echo = { id: number; recursionDesired: boolean; question: Buffer; edns: boolean };

/** A question, the reply to what is none, or nothing where even a reply would be wrong. */
export type Parsed = { type: "question"; question: Question } | { type: "reply"; reply: Buffer } | { type: "drop" };

export type Answer = { code: number; record?: { type: number; ttlSeconds: number; data: Buffer } };

/** Never throws, whatever the bytes are. */
export function parseQuery(packet: Buffer): Parsed {
  if (packet.length < HEADER_BYTES) return { type: "drop" };
  const flags = packet.readUInt16BE(2);
  // A reply to a reply is how two servers talk for ever.
  if (flags & 0x8000) return { type: "drop" };
  const bare: Echo = {
    id: packet.readUInt16BE(0),
    recursionDesired: (flags & 0x0100) !== 0,
    question: Buffer.alloc(0),
    edns: false,
  };
  const refuse = (code: number, echo = bare): Parsed => ({ type: "reply", reply: buildReply(echo, { code }) });
  if ((flags >> 11) & 0xf) return refuse(RCODE.notImplemented);
  if (flags & 0x0200 || !hasOneQuestion(packet)) return refuse(RCODE.formatError);
  const read = readName(packet, HEADER_BYTES);
  if (read === undefined || packet.length < read.end + 4) return refuse(RCODE.formatError);
  const end = read.end + 4;
  const edns = readEdns(packet, end);
  if (edns === "malformed") return refuse(RCODE.formatError);
  const echo = { ...bare, question: Buffer.from(packet.subarray(HEADER_BYTES, end)), edns: edns !== "none" };
  if (edns === "other version") return refuse(BAD_VERSION, echo);
  if (packet.readUInt16BE(read.end + 2) !== CLASS_IN) return refuse(RCODE.refused, echo);
  return { type: "question", question: { name: read.name, type: packet.readUInt16BE(read.end), echo } };
}

function hasOneQuestion(packet: Buffer): boolean {
  return packet.readUInt16BE(4) === 1 && packet.readUInt16BE(6) === 0 && packet.readUInt16BE(8) === 0;
}

/** A name without compression: the first one in a message has nothing before it that it could point to. */
function readName(packet: Buffer, start: number): { name: string; end: number } | undefined {
  const labels: string[] = [];
  for (let at = start; ; ) {
    const length = packet[at];
    if (length === undefined || length > MAX_LABEL_BYTES) return undefined;
    const end = at + 1 + length;
    if (end > packet.length || end - start > MAX_NAME_BYTES) return undefined;
    if (length === 0) return { name: labels.join("."), end };
    labels.push(labelText(packet.subarray(at + 1, end)));
    at = end;
  }
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Whatever could be taken for another name than it is gets a backslash, which no host name has (RFC 1035, 5.1). */
function labelText(bytes: Buffer): string {
  return textOfLabel(bytes).replace(/[A-Z]/g, (char) => char.toLowerCase());
}

function textOfLabel(bytes: Buffer): string {
  try {
    return strictUtf8.decode(bytes).replace(UNSAFE, decimal);
  } catch {
    return bytes
      .toString("latin1")
      .replace(UNSAFE, decimal)
      .replace(/[\x80-\xff]/g, decimal);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern is for
const UNSAFE = /[\x00-\x20.\\\x7f]/g;

function decimal(char: string): string {
  return `\\${String(char.charCodeAt(0)).padStart(3, "0")}`;
}

function readEdns(packet: Buffer, at: number): "none" | "version 0" | "other version" | "malformed" {
  if (packet.readUInt16BE(10) === 0) return at === packet.length ? "none" : "malformed";
  if (packet.length < at + OPT_BYTES) return "malformed";
  // Other records than OPT ask for what we do not do, such as signatures, and may be passed over.
  if (packet[at] !== 0 || packet.readUInt16BE(at + 1) !== TYPE.OPT) return "none";
  if (packet.length < at + OPT_BYTES + packet.readUInt16BE(at + 9)) return "malformed";
  return packet[at + 6] === 0 ? "version 0" : "other version";
}

/** At most 12 + 259 + 12 + 255 bytes, and below 512 for every record we have. */
export function buildReply(echo: Echo, { code, record }: Answer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(echo.id, 0);
  header.writeUInt16BE(0x8080 | (echo.recursionDesired ? 0x0100 : 0) | (code & 0xf), 2);
  header.writeUInt16BE(echo.question.length > 0 ? 1 : 0, 4);
  header.writeUInt16BE(record ? 1 : 0, 6);
  header.writeUInt16BE(echo.edns ? 1 : 0, 10);
  return Buffer.concat([header, echo.question, ...(record ? [encode(record)] : []), ...(echo.edns ? [opt(code)] : [])]);
}

function encode({ type, ttlSeconds, data }: NonNullable<Answer["record"]>): Buffer {
  const head = Buffer.alloc(12);
  // The name is that of the question.
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(CLASS_IN, 4);
  head.writeUInt32BE(ttlSeconds, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function opt(code: number): Buffer {
  const record = Buffer.alloc(OPT_BYTES);
  record.writeUInt16BE(TYPE.OPT, 1);
  record.writeUInt16BE(OUR_UDP_BYTES, 3);
  record[5] = code >> 4;
  return record;
}

/** The name as a record's data; undefined for one that has no such form, or is too long for a short reply. */
export function encodeName(name: string): Buffer | undefined {
  const labels = name.split(".").map((label) => Buffer.from(label, "latin1"));
  if (!/^[\x21-\x7e]+$/.test(name) || name.includes("\\")) return undefined;
  if (labels.some(({ length }) => length === 0 || length > MAX_LABEL_BYTES) || name.length > 190) return undefined;
  return Buffer.concat([...labels.flatMap((label) => [Buffer.from([label.length]), label]), Buffer.from([0])]);
}
