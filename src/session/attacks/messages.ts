/** A value for the runtime's program and its length: `%6f6b 2`. */
export function bytesOf(content: string | Buffer): string {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return `%${bytes.toString("hex")} ${bytes.length}`;
}

/** Text of which every byte reaches the program, blanks too, with a NUL after it. */
export function textOfBytes(text: string): string {
  return `%${Buffer.from(text).toString("hex")}00`;
}

export function httpRequest(host: string, path = "/"): string {
  return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
}

/** The beginning of a TLS 1.2 connection (RFC 5246, 7.4.1.2), with the name (RFC 6066, 3) or without one. */
export function clientHello(serverName: string | undefined): Buffer {
  const hello = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    Buffer.from([0, 0, 2, 0xc0, 0x2f, 1, 0]),
    sized(2, serverName === undefined ? Buffer.alloc(0) : nameExtension(serverName)),
  ]);
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(2, Buffer.concat([Buffer.from([1]), sized(3, hello)]))]);
}

function nameExtension(name: string): Buffer {
  const list = sized(2, Buffer.concat([Buffer.from([0]), sized(2, Buffer.from(name))]));
  return Buffer.concat([Buffer.from([0, 0]), sized(2, list)]);
}

/** `body` with its length before it, in so many bytes. */
function sized(width: 2 | 3, body: Buffer): Buffer {
  const length = Buffer.alloc(width);
  length.writeUIntBE(body.length, 0, width);
  return Buffer.concat([length, body]);
}
