import { type ClientHello, parseClientHello } from "./client-hello.ts";
import { Gathered } from "./gathered.ts";
import { refuseAmbiguous } from "./words.ts";

/** 64 KiB: four times the largest record; hellos with post-quantum keys have 2 KiB. */
const MAX_HELLO_BYTES = 64 * 1024;
const MAX_RECORD_BYTES = 16 * 1024;
const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const HEADER_BYTES = 4;

/** Puts a ClientHello together from records and pieces of any size. */
export class HelloReader {
  readonly #message = new Gathered();
  readonly #header = new Gathered();
  /** Of the current record. */
  #left = 0;

  /** The hello once it is whole. @throws EgressRefusal */
  push(piece: Buffer): ClientHello | undefined {
    let rest = piece;
    while (rest.length > 0) {
      rest = this.#left === 0 ? this.#readHeader(rest) : this.#readFragment(rest);
      const hello = this.#whole();
      // What follows are other records: early data, which TLS itself protects.
      if (hello) return hello;
    }
    return undefined;
  }

  #readHeader(bytes: Buffer): Buffer {
    const size = Math.min(5 - this.#header.length, bytes.length);
    this.#header.add(bytes.subarray(0, size));
    if (this.#header.length === 5) {
      const header = this.#header.take();
      const length = header.readUInt16BE(3);
      if (header[0] !== HANDSHAKE_RECORD || header[1] !== 3) throw malformed("a record that is none of a hello");
      if (length === 0 || length > MAX_RECORD_BYTES) throw malformed(`a record of ${length} bytes`);
      this.#left = length;
    }
    return bytes.subarray(size);
  }

  #readFragment(bytes: Buffer): Buffer {
    const size = Math.min(this.#left, bytes.length);
    this.#message.add(bytes.subarray(0, size));
    this.#left -= size;
    return bytes.subarray(size);
  }

  #whole(): ClientHello | undefined {
    const message = this.#message.bytes;
    if (message.length > 0 && message[0] !== CLIENT_HELLO) throw malformed("a message that is no hello");
    if (message.length < HEADER_BYTES) return undefined;
    const length = HEADER_BYTES + message.readUIntBE(1, 3);
    if (length > MAX_HELLO_BYTES) throw malformed(`a hello of ${length} bytes`);
    if (message.length < length) return undefined;
    if (message.length > length || this.#left > 0) throw malformed("bytes after the hello");
    const hello = parseClientHello(message.subarray(HEADER_BYTES));
    if (!hello) throw malformed("a hello that is malformed or says something twice");
    return hello;
  }
}

function malformed(what: string) {
  return refuseAmbiguous(`the TLS handshake begins with ${what}`);
}
