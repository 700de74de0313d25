import { byteLength, clipAround } from "../../core/truncate.ts";
import { escapeControls } from "../../core/visible.ts";
import { OUTPUT_LIMITS } from "../../tools/contract.ts";
import { shownName } from "../files/names.ts";
import { plural, shownSize } from "../notices.ts";
import type { PathMatcher } from "./glob.ts";
import type { GrepEvent } from "./grep-events.ts";
import { withoutDot } from "./search-place.ts";

const LINE_CHARS = 500;

type OpenFile = { name: Buffer; lines: string[]; matches: number; lastLine: number; bytes: number };
export type GrepLimits = { matches: number; context: number };

/** Matches as lines for the model. Those of a file wait until it is known not to be binary. */
export class GrepOutput {
  readonly lines: string[] = [];
  matches = 0;
  /** Why no more were taken. */
  full: "matches" | "bytes" | undefined;
  /** rg came to its end; without that, an error of its exit is one of the pattern. */
  finished = false;
  readonly #prefix: Buffer;
  readonly #accepts: PathMatcher;
  readonly #limits: GrepLimits;
  #bytes = 0;
  #file: OpenFile | undefined;

  constructor(prefix: string, accepts: PathMatcher, limits: GrepLimits) {
    this.#prefix = Buffer.from(prefix);
    this.#accepts = accepts;
    this.#limits = limits;
  }

  /** The file whose matches wait; undefined between files. */
  get openFile(): Buffer | undefined {
    return this.#file?.name;
  }

  /** False when nothing more is wanted. */
  take(event: GrepEvent): boolean {
    if (event.type === "summary") this.finished = true;
    else if (this.#accepts(withoutDot(event.file).toString("utf8"))) this.#takeOfFile(event);
    return this.full === undefined;
  }

  /** Ends the file whose matches wait, as the end of its search would. */
  endFile(isBinary: boolean): void {
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined || file.lines.length === 0) return;
    const binary = [`Binary file ${this.#shown(file.name)} matches`];
    this.matches += isBinary ? 1 : file.matches;
    this.#append(isBinary ? binary : file.lines);
  }

  #takeOfFile(event: Exclude<GrepEvent, { type: "summary" }>): void {
    if (event.type === "file_end") return this.endFile(event.isBinary);
    this.#file ??= { name: event.file, lines: [], matches: 0, lastLine: 0, bytes: 0 };
    const isMatch = event.type === "lines" ? event.hit !== undefined : event.isMatch;
    if (isMatch && this.matches + this.#file.matches === this.#limits.matches) this.full = "matches";
    if (this.full !== undefined) return;
    if (isMatch) this.#file.matches++;
    if (event.type === "lines") this.#addLines(this.#file, event);
    else this.#addOverlong(this.#file, event);
    if (this.#bytes + this.#file.bytes > OUTPUT_LIMITS.maxBytes) this.full = "bytes";
    if (this.lines.length + this.#file.lines.length > OUTPUT_LIMITS.maxLines) this.full = "bytes";
  }

  #addLines(file: OpenFile, { line, lines, hit }: Extract<GrepEvent, { type: "lines" }>): void {
    this.#separate(file, line);
    const mark = hit === undefined ? "-" : ":";
    let from = 0;
    let number = line;
    while (from < lines.length || from === 0) {
      const newline = lines.indexOf(0x0a, from);
      const to = newline === -1 ? lines.length : newline;
      const text = shownLine(lines.subarray(from, to), hit && { start: hit.start - from, end: hit.end - from });
      this.#add(file, `${this.#shown(file.name)}${mark}${number}${mark}${text}`);
      file.lastLine = number++;
      from = to + 1;
    }
  }

  #addOverlong(file: OpenFile, { line, isMatch, bytes }: Extract<GrepEvent, { type: "overlong" }>): void {
    const mark = isMatch ? ":" : "-";
    const text = `(a line of about ${shownSize(bytes)}, too long to show)`;
    this.#add(file, `${this.#shown(file.name)}${mark}${line ?? "?"}${mark}${text}`);
    file.lastLine = line ?? file.lastLine;
  }

  /** As grep does, where context leaves a gap. */
  #separate(file: OpenFile, line: number): void {
    if (this.#limits.context > 0 && file.lines.length > 0 && line > file.lastLine + 1) this.#add(file, "--");
  }

  #add(file: OpenFile, line: string): void {
    file.lines.push(line);
    file.bytes += byteLength(line) + 1;
  }

  #append(lines: readonly string[]): void {
    if (this.#limits.context > 0 && this.lines.length > 0) this.lines.push("--");
    for (const line of lines) {
      this.#bytes += byteLength(line) + 1;
      if (this.#bytes > OUTPUT_LIMITS.maxBytes || this.lines.length >= OUTPUT_LIMITS.maxLines) this.full = "bytes";
      else this.lines.push(line);
    }
  }

  #shown(name: Buffer): string {
    return shownName(Buffer.concat([this.#prefix, withoutDot(name)]));
  }
}

/** One line with the match in sight; offsets are of bytes and may lie outside of this line. */
function shownLine(bytes: Buffer, hit: { start: number; end: number } | undefined): string {
  const text = bytes.toString("utf8").replace(/\r$/, "");
  if (text.length <= LINE_CHARS) return escaped(text);
  const from = Math.min(Math.max(hit?.start ?? 0, 0), bytes.length);
  const to = Math.min(Math.max(hit?.end ?? 0, from), bytes.length);
  const start = bytes.toString("utf8", 0, from).length;
  return escaped(clipAround(text, start, start + bytes.toString("utf8", from, to).length, LINE_CHARS));
}

function escaped(text: string): string {
  return escapeControls(text).replaceAll("\r", "\\x0d");
}

/** What was left out and how to see it, or undefined. */
export function limitNotice(output: GrepOutput, limit: number): string | undefined {
  if (output.full === "matches")
    return `First ${plural(limit, "match")} shown, there are more; narrow the search or raise limit`;
  if (output.full === "bytes") {
    return `Output stopped at ${shownSize(OUTPUT_LIMITS.maxBytes)} or ${OUTPUT_LIMITS.maxLines} lines, there may be more; narrow the search`;
  }
  return undefined;
}
