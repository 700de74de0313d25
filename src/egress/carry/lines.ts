import { Gathered } from "./gathered.ts";
import { refuseAmbiguous } from "./words.ts";

const LF = 10;
/** The first, 200 fields, and the empty one: each costs more than its bytes do. */
const MAX_LINES = 202;
// Tab and what is above ASCII may be in values; nothing else but CRLF ends a line, for whoever reads it after us.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern is for
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** Lines of HTTP that end with CRLF, not too many, and together no longer than a limit. */
export class Lines {
  readonly #what: string;
  readonly #maxBytes: number;
  readonly #raw = new Gathered();
  #start = 0;
  #count = 0;

  constructor(what: string, maxBytes: number) {
    this.#what = what;
    this.#maxBytes = maxBytes;
  }

  /** Bytes since the last `take`. */
  get length(): number {
    return this.#raw.length;
  }

  /** The first `length` of them. */
  peek(length: number): string {
    return this.#raw.bytes.toString("latin1", 0, length);
  }

  /** One line at most, without its end, and the bytes after it. @throws EgressRefusal */
  read(bytes: Buffer): { line: string | undefined; rest: Buffer } {
    const end = bytes.indexOf(LF);
    const part = end < 0 ? bytes : bytes.subarray(0, end + 1);
    if (this.#raw.length + part.length > this.#maxBytes) {
      throw refuseAmbiguous(`${this.#what} is longer than ${this.#maxBytes} bytes`);
    }
    this.#raw.add(part);
    const rest = bytes.subarray(part.length);
    return end < 0 ? { line: undefined, rest } : { line: this.#endLine(), rest };
  }

  /** The bytes of the lines as they came; the next line is the first again. */
  take(): Buffer {
    this.#start = 0;
    this.#count = 0;
    return this.#raw.take();
  }

  #endLine(): string {
    this.#count += 1;
    if (this.#count > MAX_LINES) throw refuseAmbiguous(`${this.#what} has more than ${MAX_LINES} lines`);
    const raw = this.#raw.bytes.toString("latin1", this.#start);
    this.#start = this.#raw.length;
    if (!raw.endsWith("\r\n")) throw refuseAmbiguous(`a line of ${this.#what} ends with LF alone`);
    const line = raw.slice(0, -2);
    if (CONTROL.test(line)) throw refuseAmbiguous(`a line of ${this.#what} has control characters`);
    return line;
  }
}
