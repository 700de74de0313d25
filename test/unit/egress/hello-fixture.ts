import { Duplex } from "node:stream";
import { type ConnectionOptions, connect } from "node:tls";

/** The ClientHello message of a real client, with its header and without records. */
export async function helloOf(options: ConnectionOptions): Promise<Buffer> {
  const first = await new Promise<Buffer>((resolve) => {
    const socket = new Duplex({ read: () => undefined, write: (chunk: Buffer) => resolve(chunk) });
    connect({ ...options, socket }).on("error", () => undefined);
  });
  return first.subarray(5);
}

/** Records of a message, cut into fragments of `size` bytes. */
export function recordsOf(message: Buffer, size = 16_384): Buffer {
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const fragment = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, fragment.length >> 8, fragment.length & 255]), fragment);
  }
  return Buffer.concat(records);
}

export type Extension = { type: number; data: Buffer };

export function vector(size: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length = Buffer.alloc(size);
  length.writeUIntBE(body.length, 0, size);
  return Buffer.concat([length, body]);
}

/** The extension that names hosts; type 0 of each entry is a host name. */
export function serverNames(...names: string[]): Extension {
  const entries = names.map((name) => Buffer.concat([Buffer.from([0]), vector(2, Buffer.from(name, "latin1"))]));
  return { type: 0, data: vector(2, ...entries) };
}

/** A ClientHello message made of parts. */
export function makeHello(
  extensions: readonly Extension[],
  change: { version?: number; session?: number } = {},
): Buffer {
  const { version = 0x0303, session = 32 } = change;
  const list = extensions.map(({ type, data }) =>
    Buffer.concat([Buffer.from([type >> 8, type & 255]), vector(2, data)]),
  );
  const body = Buffer.concat([
    Buffer.from([version >> 8, version & 255]),
    Buffer.alloc(32, 7),
    vector(1, Buffer.alloc(session)),
    vector(2, Buffer.from([0x0a, 0x0a, 0x13, 0x01])),
    vector(1, Buffer.from([0])),
    vector(2, ...list),
  ]);
  return Buffer.concat([Buffer.from([1]), vector(3, body)]);
}

/** GREASE (RFC 8701): values that mean nothing, which everybody must let pass. */
export const GREASE: Extension = { type: 0x0a0a, data: Buffer.alloc(0) };
