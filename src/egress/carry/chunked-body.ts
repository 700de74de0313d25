import { Chunks } from "./chunks.ts";
import { parseFields } from "./fields.ts";
import { Lines } from "./lines.ts";
import { refuseAmbiguous } from "./words.ts";

const MAX_TRAILER_BYTES = 8 * 1024;
const FORBIDDEN = ["content-length", "transfer-encoding", "host", "upgrade"];

/** Follows a request's body in chunks to its end (RFC 9112, 7.1). */
export class ChunkedBody {
  readonly #pass: (bytes: Buffer) => void;
  readonly #chunks = new Chunks({ mayPad: false });
  readonly #lines = new Lines("a request's trailer", MAX_TRAILER_BYTES);
  readonly #trailer: string[] = [];
  #isDone = false;

  constructor(pass: (bytes: Buffer) => void) {
    this.#pass = pass;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Passes on what is well-formed, in one piece, and returns what comes after it. @throws EgressRefusal */
  read(bytes: Buffer): Buffer {
    if (this.#chunks.isDone) return this.#readTrailer(bytes);
    const end = this.#chunks.scan(bytes, 0);
    this.#pass(bytes.subarray(0, end));
    return bytes.subarray(end);
  }

  #readTrailer(bytes: Buffer): Buffer {
    const { line, rest } = this.#lines.read(bytes);
    if (line === "") this.#end();
    else if (line !== undefined) this.#trailer.push(line);
    return rest;
  }

  #end(): void {
    const named = [...parseFields(this.#trailer).keys()].find((name) => FORBIDDEN.includes(name));
    if (named) throw refuseAmbiguous(`a request's trailer has \`${named}\``);
    this.#isDone = true;
    this.#pass(this.#lines.take());
  }
}
