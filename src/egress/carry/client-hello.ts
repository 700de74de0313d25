import { BytesReader } from "./bytes-reader.ts";

/** What a TLS client says in the clear before anything else (RFC 8446, 4.1.2). */
export type ClientHello = {
  /** As it was sent; undefined when no name is. */
  serverName: string | undefined;
  /** ALPN; empty when the client offers none. */
  protocols: string[];
  /** It has an encrypted hello, for the same name or another (extension 0xfe0d). */
  hasEncrypted: boolean;
};

const SERVER_NAME = 0;
const ALPN = 16;
const ENCRYPTED_CLIENT_HELLO = 0xfe0d;

/** The body of a ClientHello without its header; undefined when it is malformed or says something twice. */
export function parseClientHello(body: Buffer): ClientHello | undefined {
  const extensions = extensionsOf(body);
  if (!extensions) return undefined;
  const name = extensions.get(SERVER_NAME);
  const alpn = extensions.get(ALPN);
  const serverName = name && serverNameOf(name);
  const protocols = alpn ? protocolsOf(alpn) : [];
  if ((name && serverName === undefined) || !protocols) return undefined;
  return { serverName, protocols, hasEncrypted: extensions.has(ENCRYPTED_CLIENT_HELLO) };
}

function extensionsOf(body: Buffer): Map<number, Buffer> | undefined {
  const reader = new BytesReader(body);
  const version = reader.number(2);
  if (version === undefined || version < 0x0301 || version > 0x0303) return undefined;
  const random = reader.take(32);
  const session = reader.vector(1);
  const suites = reader.vector(2);
  const compressions = reader.vector(1);
  if (!random || !session || session.length > 32) return undefined;
  if (!suites || suites.length === 0 || suites.length % 2 !== 0 || !compressions?.length) return undefined;
  if (reader.isAtEnd) return new Map();
  const list = reader.vector(2);
  return list && reader.isAtEnd ? splitExtensions(list) : undefined;
}

function splitExtensions(list: Buffer): Map<number, Buffer> | undefined {
  const reader = new BytesReader(list);
  const extensions = new Map<number, Buffer>();
  while (!reader.isAtEnd) {
    const type = reader.number(2);
    const data = reader.vector(2);
    // Of two server names one program reads the first, another the last.
    if (type === undefined || !data || extensions.has(type)) return undefined;
    extensions.set(type, data);
  }
  return extensions;
}

/** RFC 6066, 3: a list, in which there is exactly one name of the only type there is. */
function serverNameOf(data: Buffer): string | undefined {
  const outer = new BytesReader(data);
  const list = outer.vector(2);
  if (!list || !outer.isAtEnd) return undefined;
  const reader = new BytesReader(list);
  const type = reader.number(1);
  const name = reader.vector(2);
  return type === 0 && name?.length && reader.isAtEnd ? name.toString("latin1") : undefined;
}

/** RFC 7301, 3.1. */
function protocolsOf(data: Buffer): string[] | undefined {
  const outer = new BytesReader(data);
  const list = outer.vector(2);
  if (!list?.length || !outer.isAtEnd) return undefined;
  const reader = new BytesReader(list);
  const protocols: string[] = [];
  while (!reader.isAtEnd) {
    const protocol = reader.vector(1);
    if (!protocol?.length) return undefined;
    protocols.push(protocol.toString("latin1"));
  }
  return protocols;
}
