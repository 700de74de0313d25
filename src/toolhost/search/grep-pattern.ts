import { byteLength } from "../../core/truncate.ts";
import type { ToolArgs } from "../../tools/catalogue.ts";
import { ToolFailure } from "../outcomes.ts";

/** Twice what any argument could hold; rg needs kilobytes of memory for each byte of some patterns. */
const MAX_PATTERN_BYTES = 256 * 1024;

/** What rg is asked for: options, and the pattern for its stdin (`-f -`), where no length is too long and no `-` an option. */
export type RgPattern = { args: string[]; input: string };

/** Throws ToolFailure for a pattern beyond all use. */
export function rgPattern({ pattern, ignoreCase, literal }: ToolArgs<"grep">): RgPattern {
  const bytes = byteLength(pattern);
  if (bytes > MAX_PATTERN_BYTES) {
    throw new ToolFailure(`The pattern has ${bytes} bytes; at most ${MAX_PATTERN_BYTES} are searched for`);
  }
  const multiline = pattern.includes("\n") || (literal !== true && /(?<!\\)(?:\\\\)*\\n/.test(pattern));
  const args = ["-f", "-", ...(ignoreCase ? ["-i"] : [])];
  if (multiline) return { args: [...args, "-U"], input: oneLine(literal ? escapeRegex(pattern) : pattern) };
  if (literal) return { args: [...args, "-F"], input: pattern };
  // `$` stands before CRLF too; rg forbids `\r` in the pattern together with that.
  const crlf = pattern.includes("$") && !/\r|\\r|\\x/.test(pattern);
  return { args: [...args, ...(crlf ? ["--crlf"] : [])], input: pattern };
}

/** A pattern file holds one pattern a line, so that a line break in one has to be written as an escape; CRLF is one too. */
function oneLine(regex: string): string {
  return regex.replace(/\\[\s\S]|\r?\n/g, (part) => (part.endsWith("\n") ? "\\r?\\n" : part));
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

/**
 * Options that leave out most files `glob` does not match, by their names alone; rg's own `-g` would show ignored files
 * that match. The exact test is {@link globMatcher}'s.
 */
export function nameFilter(glob: string | undefined): string[] {
  const name = glob?.split("/").at(-1);
  if (name === undefined || !/^[\w.*?-]+$/.test(name) || name.includes("**")) return [];
  return ["--type-add", `wanted:${name}`, "-t", "wanted"];
}
