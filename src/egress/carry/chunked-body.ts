import { parseFields } from "./fields.ts";
import { Lines } from "./lines.ts";
import { refuseAmbiguous, shown } from "./words.ts";

/** Size line with its extensions. */
const MAX_SIZE_LINE_BYTES = 1024;
const MAX_TRAILER_BYTES = 8 * 1024;
const FORBIDDEN = ["content-length", "transfer-encoding", "host", "upgrade"];

/** Follows a body in chunks to its end (RFC 9112, 7.1). */
export class ChunkedBody {
  readonly #pass: (bytes: Buffer) => void;
  #part: "size" | "data" | "end-of-data" | "trailer" | "done" = "size";
  #lines = sizeLine();
  #left = 0;
  readonly #trailer: string[] = [];

  constructor(pass: (bytes: Buffer) => void) {
    this.#pass = pass;
  }

  get isDone(): boolean {
    return this.#part === "done";
  }

  /** Passes on what is well-formed, and returns what comes after it. @throws EgressRefusal */
  read(bytes: Buffer): Buffer {
    return this.#part === "data" ? this.#readData(bytes) : this.#readLine(bytes);
  }

  #readData(bytes: Buffer): Buffer {
    const data = bytes.subarray(0, this.#left);
    this.#left -= data.length;
    this.#pass(data);
    if (this.#left === 0) this.#begin("end-of-data", new Lines("the end of a chunk", 2));
    return bytes.subarray(data.length);
  }

  #readLine(bytes: Buffer): Buffer {
    const { line, rest } = this.#lines.read(bytes);
    if (line === undefined) return rest;
    if (this.#part === "size") this.#endSize(line);
    else if (this.#part === "trailer") this.#endTrailer(line);
    else this.#begin("size", sizeLine());
    return rest;
  }

  #endSize(line: string): void {
    this.#left = sizeOf(line);
    if (this.#left > 0) this.#begin("data", sizeLine());
    else this.#begin("trailer", new Lines("a request's trailer", MAX_TRAILER_BYTES));
  }

  #endTrailer(line: string): void {
    if (line !== "") {
      this.#trailer.push(line);
      return;
    }
    const named = [...parseFields(this.#trailer).keys()].find((name) => FORBIDDEN.includes(name));
    if (named) throw refuseAmbiguous(`a request's trailer has \`${named}\``);
    this.#begin("done", sizeLine());
  }

  #begin(part: "size" | "data" | "end-of-data" | "trailer" | "done", lines: Lines): void {
    this.#pass(this.#lines.take());
    this.#part = part;
    this.#lines = lines;
  }
}

function sizeLine(): Lines {
  return new Lines("the size of a chunk", MAX_SIZE_LINE_BYTES);
}

function sizeOf(line: string): number {
  const [, size] = /^([\da-f]{1,13})(?:[ \t]*;.*)?$/i.exec(line) ?? [];
  if (size === undefined) throw refuseAmbiguous(`a chunk has the size \`${shown(line)}\``);
  return Number.parseInt(size, 16);
}
