import { refuseAmbiguous, shown } from "./words.ts";

const [TAB, LF, CR, BLANK, SEMICOLON, DELETE] = [9, 10, 13, 32, 59, 127];
const MAX_DIGITS = 13;
/** Size line with its extensions. */
const MAX_SIZE_LINE_BYTES = 1024;

type Part = "size" | "padding" | "extension" | "size-end" | "data" | "data-cr" | "data-lf" | "done";

/** Follows the chunks of a body up to its trailer (RFC 9112, 7.1), byte by byte in place: a chunk may hold one byte. */
export class Chunks {
  readonly #mayPad: boolean;
  #part: Part = "size";
  #left = 0;
  #digits = 0;
  #lineBytes = 0;

  /** `mayPad`: blanks may follow a size, as old servers send them. */
  constructor({ mayPad }: { mayPad: boolean }) {
    this.#mayPad = mayPad;
  }

  /** The last chunk was read; what follows is the trailer. */
  get isDone(): boolean {
    return this.#part === "done";
  }

  /** Where in `bytes` the chunks end, from `start` on. @throws EgressRefusal, in the same words however they are cut */
  scan(bytes: Buffer, start: number): number {
    let at = start;
    while (at < bytes.length && this.#part !== "done") {
      if (this.#part === "data") {
        at += this.#skip(bytes.length - at);
      } else {
        this.#read(bytes[at] ?? 0);
        at += 1;
      }
    }
    return at;
  }

  #skip(available: number): number {
    const size = Math.min(this.#left, available);
    this.#left -= size;
    if (this.#left === 0) this.#part = "data-cr";
    return size;
  }

  #read(byte: number): void {
    switch (this.#part) {
      case "data-cr":
        if (byte !== CR) throw malformed("the end of a chunk", byte);
        this.#part = "data-lf";
        return;
      case "data-lf":
        if (byte !== LF) throw malformed("the end of a chunk", byte);
        this.#beginSize();
        return;
      case "size-end":
        if (byte !== LF) throw malformed("the size of a chunk", byte);
        this.#part = this.#left > 0 ? "data" : "done";
        return;
      default:
        this.#readSizeLine(byte);
    }
  }

  #readSizeLine(byte: number): void {
    this.#lineBytes += 1;
    if (this.#lineBytes > MAX_SIZE_LINE_BYTES) {
      throw refuseAmbiguous(`the size of a chunk is longer than ${MAX_SIZE_LINE_BYTES} bytes`);
    }
    if (this.#part === "size" && this.#addDigit(digitOf(byte))) return;
    if (this.#part === "extension") {
      if (byte === CR) this.#part = "size-end";
      else if (isControl(byte)) throw malformed("the size of a chunk", byte);
      return;
    }
    this.#part = this.#afterDigits(byte);
  }

  #addDigit(digit: number): boolean {
    if (digit < 0 || this.#digits === MAX_DIGITS) return false;
    this.#digits += 1;
    this.#left = this.#left * 16 + digit;
    return true;
  }

  #afterDigits(byte: number): Part {
    if (this.#digits > 0) {
      if (byte === SEMICOLON) return "extension";
      if (byte === BLANK || byte === TAB) return "padding";
      if (byte === CR && (this.#part === "size" || this.#mayPad)) return "size-end";
    }
    throw malformed("the size of a chunk", byte);
  }

  #beginSize(): void {
    this.#part = "size";
    this.#digits = 0;
    this.#lineBytes = 0;
  }
}

function digitOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** Tab and what is above ASCII may be in an extension. */
function isControl(byte: number): boolean {
  return (byte < BLANK && byte !== TAB) || byte === DELETE;
}

function malformed(what: string, byte: number): Error {
  return refuseAmbiguous(`${what} has \`${shown(Buffer.of(byte))}\` where it may not`);
}
