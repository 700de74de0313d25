import { Gathered } from "./gathered.ts";

/** Longer heads exist nowhere; what has one is passed on and no longer followed. */
const MAX_HEAD_BYTES = 256 * 1024;

type State =
  | { type: "head" }
  | { type: "length"; left: number }
  | { type: "chunk-size" }
  | { type: "chunk-data"; left: number }
  | { type: "trailer" }
  /** To the end of the connection, or not understood: it is passed on, and never again counts as answered. */
  | { type: "rest" };

/**
 * Follows the answers of a server as far as is needed to know which request they answer, and whether one is underway.
 * It forgives what clients forgive: what it says is used for politeness, and for whether a WebSocket was agreed on.
 */
export class ResponseReader {
  readonly #onStatus: (status: number) => void;
  readonly #awaited: string[] = [];
  readonly #line = new Gathered();
  #state: State = { type: "head" };
  #head: string[] = [];
  #headBytes = 0;

  constructor(onStatus: (status: number) => void) {
    this.#onStatus = onStatus;
  }

  /** Everything asked has been answered, and nothing else is underway. */
  get isIdle(): boolean {
    const isBetween = this.#state.type === "head" && this.#head.length === 0 && this.#line.length === 0;
    return isBetween && this.#awaited.length === 0;
  }

  get awaited(): number {
    return this.#awaited.length;
  }

  /** A request with this method was passed on. */
  expect(method: string): void {
    this.#awaited.push(method);
  }

  push(piece: Buffer): void {
    let rest = piece;
    while (rest.length > 0) rest = this.#step(rest);
  }

  #step(bytes: Buffer): Buffer {
    const state = this.#state;
    switch (state.type) {
      case "rest":
        return bytes.subarray(bytes.length);
      case "length":
      case "chunk-data": {
        const size = Math.min(state.left, bytes.length);
        state.left -= size;
        if (state.left === 0) this.#state = state.type === "length" ? { type: "head" } : { type: "chunk-size" };
        return bytes.subarray(size);
      }
      case "head":
      case "chunk-size":
      case "trailer":
        return this.#readLine(bytes, state.type);
    }
  }

  #readLine(bytes: Buffer, part: "head" | "chunk-size" | "trailer"): Buffer {
    const end = bytes.indexOf(10);
    const piece = end < 0 ? bytes : bytes.subarray(0, end + 1);
    this.#headBytes += piece.length;
    if (this.#headBytes > MAX_HEAD_BYTES) {
      this.#state = { type: "rest" };
      this.#line.take();
      return bytes.subarray(bytes.length);
    }
    this.#line.add(piece);
    if (end >= 0)
      this.#endLine(
        this.#line
          .take()
          .toString("latin1")
          .replace(/\r?\n$/, ""),
        part,
      );
    return bytes.subarray(piece.length);
  }

  #endLine(line: string, part: "head" | "chunk-size" | "trailer"): void {
    if (part === "head") return this.#endHeadLine(line);
    if (part === "trailer") {
      if (line === "") this.#begin({ type: "head" });
      return;
    }
    const [, size] = /^([\da-f]{1,13})\s*(?:;.*)?$/i.exec(line) ?? [];
    const left = Number.parseInt(size ?? "", 16);
    if (Number.isNaN(left)) this.#begin({ type: "rest" });
    // The line break after the data is counted in.
    else this.#begin(left === 0 ? { type: "trailer" } : { type: "chunk-data", left: left + 2 });
  }

  #endHeadLine(line: string): void {
    if (line !== "") {
      this.#head.push(line);
      return;
    }
    const [first = "", ...fields] = this.#head;
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1]);
    if (Number.isNaN(status)) return this.#begin({ type: "rest" });
    this.#begin(this.#after(status, fields));
    this.#onStatus(status);
  }

  #after(status: number, fields: readonly string[]): State {
    if (status === 101) return { type: "rest" };
    if (status < 200) return { type: "head" };
    const method = this.#awaited.shift();
    if (method === undefined) return { type: "rest" };
    if (method === "HEAD" || status === 204 || status === 304) return { type: "head" };
    const coding = lastValue(fields, "transfer-encoding");
    if (coding !== undefined) return { type: /(?:^|,)\s*chunked$/i.test(coding) ? "chunk-size" : "rest" };
    const length = lastValue(fields, "content-length");
    if (length === undefined || !/^\d{1,15}$/.test(length)) return { type: "rest" };
    return length === "0" ? { type: "head" } : { type: "length", left: Number(length) };
  }

  #begin(state: State): void {
    this.#state = state;
    this.#head = [];
    this.#headBytes = 0;
  }
}

function lastValue(fields: readonly string[], name: string): string | undefined {
  const field = fields.findLast((line) => line.slice(0, name.length + 1).toLowerCase() === `${name}:`);
  return field?.slice(name.length + 1).trim();
}
