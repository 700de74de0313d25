/** One event of a stream of server-sent events; `data` lines are joined with LF. */
export type SseEvent = { event: string; data: string };

/** 16 MiB: above any answer of a model in one frame; more is a server that forgot to end its lines. */
const MAX_EVENT_CHARS = 16 * 1024 * 1024;

/**
 * Splits text into events by the rules of the WHATWG: lines end in LF, CRLF or CR, wherever the pieces are cut. Throws
 * `RangeError` for an event above 16 Mi characters.
 */
export class SseDecoder {
  #line = "";
  #afterCr = false;
  #event = "";
  #data: string[] = [];
  #chars = 0;

  push(text: string): SseEvent[] {
    const rest = this.#afterCr && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") this.#afterCr = text.endsWith("\r");
    // Only the new text is searched: a frame that arrives in many pieces would cost its square otherwise.
    const [first = "", ...others] = rest.split(/\r\n|\n|\r/);
    this.#count(rest.length);
    this.#line += first;
    const events: SseEvent[] = [];
    for (const next of others) {
      const event = this.#endLine();
      if (event) events.push(event);
      this.#line = next;
    }
    return events;
  }

  /** The event the stream ended in, without its blank line: the reader decides whether it is complete. */
  end(): SseEvent | undefined {
    this.#endLine();
    return this.#endEvent();
  }

  #endLine(): SseEvent | undefined {
    const line = this.#line;
    this.#line = "";
    if (line === "") return this.#endEvent();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    if (field === "event") this.#event = value;
    if (field === "" && this.#data.length === 0) this.#chars = 0;
    return undefined;
  }

  #endEvent(): SseEvent | undefined {
    const event = { event: this.#event, data: this.#data.join("\n") };
    const empty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    this.#chars = 0;
    return empty ? undefined : event;
  }

  #count(chars: number): void {
    this.#chars += chars;
    if (this.#chars > MAX_EVENT_CHARS) throw new RangeError("an event of the stream is larger than 16 MiB");
  }
}
