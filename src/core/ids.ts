import { randomBytes } from "node:crypto";

/** A UUID version 7 (RFC 9562): 48 bits of Unix milliseconds, then random; sorts by time. */
export function uuidv7(nowMs: number = Date.now()): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Only what {@link uuidv7} makes: safe to put in a file name. */
export function isSessionId(text: string): boolean {
  return UUID.test(text);
}

/** Eight random hex digits: enough to tell the entries of one log apart. */
export function shortId(): string {
  return randomBytes(4).toString("hex");
}
