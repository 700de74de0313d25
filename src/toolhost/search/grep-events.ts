import type { StreamRecord } from "./records.ts";

/** Text of rg's JSON: UTF-8, or base64 where it is not. */
type RgText = { text: string } | { bytes: string };
type RgMessage = {
  type: "begin" | "match" | "context" | "end" | "summary";
  data: {
    path?: RgText;
    lines?: RgText;
    line_number?: number | null;
    submatches?: { start: number; end: number }[];
    binary_offset?: number | null;
  };
};

/** What rg says of a file. `hit`: the bytes of `lines` that match first; undefined for context. */
export type GrepEvent =
  | { type: "lines"; file: Buffer; line: number; lines: Buffer; hit: { start: number; end: number } | undefined }
  | { type: "overlong"; file: Buffer; line: number | undefined; isMatch: boolean; bytes: number }
  | { type: "file_end"; file: Buffer; isBinary: boolean }
  | { type: "summary" };

/** Undefined for what tells nothing. The format is that of `rg --json`, written by the runtime's own rg. */
export function grepEvent(record: StreamRecord): GrepEvent | undefined {
  if (record.type === "overlong") return overlongEvent(record.head, record.tail, record.size);
  const { type, data } = JSON.parse(record.bytes.toString("utf8")) as RgMessage;
  const file = bytesOf(data.path);
  switch (type) {
    case "begin":
      return undefined;
    case "summary":
      return { type };
    case "end":
      return { type: "file_end", file, isBinary: typeof data.binary_offset === "number" };
    case "match":
    case "context": {
      const hit = type === "match" ? (data.submatches?.[0] ?? { start: 0, end: 0 }) : undefined;
      return { type: "lines", file, line: data.line_number ?? 0, lines: bytesOf(data.lines), hit };
    }
  }
}

// Only the two ends of the message are there. A quote inside a JSON string is escaped, so these cannot be imitated.
function overlongEvent(head: Buffer, tail: Buffer, bytes: number): GrepEvent | undefined {
  const whole = firstMatchOf(head);
  if (whole !== undefined) return whole;
  const begin = /^\{"type":"(match|context)","data":\{"path":(\{.*?\}),"lines":/.exec(head.toString("utf8", 0, 65_536));
  if (begin?.[2] === undefined) return undefined;
  const number = /"line_number":(\d+),"absolute_offset"/.exec(tail.toString("utf8"))?.[1];
  const line = number === undefined ? undefined : Number(number);
  return {
    type: "overlong",
    file: bytesOf(JSON.parse(begin[2]) as RgText),
    line,
    isMatch: begin[1] === "match",
    bytes,
  };
}

/** A line of which only the list of its many matches is too long, as if it had the first one alone. */
function firstMatchOf(head: Buffer): GrepEvent | undefined {
  const list = head.indexOf(',"submatches":[{');
  const numbers = list === -1 ? -1 : head.indexOf(',"start":', list);
  const end = numbers === -1 ? -1 : head.indexOf("}", numbers);
  if (end === -1) return undefined;
  return grepEvent({ type: "whole", bytes: Buffer.concat([head.subarray(0, end), Buffer.from("}]}}")]) });
}

function bytesOf(text: RgText | undefined): Buffer {
  if (text === undefined) return Buffer.alloc(0);
  return "text" in text ? Buffer.from(text.text, "utf8") : Buffer.from(text.bytes, "base64");
}
