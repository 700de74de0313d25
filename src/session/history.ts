import { basename } from "node:path";
import type * as z from "zod";
import { mapStrings } from "../core/json.ts";
import { wellFormed } from "../core/truncate.ts";
import { corruptLine, type FileLine, readLines } from "./history-lines.ts";
import { type EventLine, eventLine, type HeaderLine, headerLine } from "./history-schema.ts";

export type { EventLine, HeaderLine } from "./history-schema.ts";

/** What is read of a log, in its order. `torn` is last: a write that a crash cut off, of so many bytes. */
export type HistoryItem =
  | { type: "header"; header: HeaderLine }
  | { type: "event"; event: EventLine }
  | { type: "torn"; bytes: number };

/** What became of a session; `interrupted` never wrote its end, `not_started` had no sandbox. */
export type SessionOutcome = Extract<EventLine, { type: "run_end" }>["outcome"] | "interrupted" | "not_started";

export type SessionSummary = {
  header: HeaderLine;
  outcome: SessionOutcome;
  turns: number;
  toolCalls: number;
  /** The first one. */
  prompt: string;
  isTorn: boolean;
};

/**
 * Reads a log strictly: nothing that cannot be read is skipped, but a last line that a crash cut off.
 * @throws GloveboxError `SESSION_CORRUPT` with line and byte, `SESSION_NOT_FOUND`.
 */
export async function* readHistory(path: string): AsyncGenerator<HistoryItem> {
  let last: FileLine | undefined;
  for await (const line of readLines(path)) {
    if (last) yield readLine(path, last);
    last = line;
  }
  if (!last) throw corruptLine(path, { number: 1, offset: 0 }, "is missing: the file is empty");
  const isTorn = last.number > 1 && (last.isTorn || jsonOf(last) === undefined);
  yield isTorn ? { type: "torn", bytes: Buffer.byteLength(last.text ?? "") } : readLine(path, last);
}

/** Reads a whole log for what a list tells of it. @throws as {@link readHistory}. */
export async function summarise(path: string): Promise<SessionSummary> {
  let summary: SessionSummary | undefined;
  for await (const item of readHistory(path)) {
    if (item.type === "header") summary = emptySummary(item.header);
    else if (summary && item.type === "torn") summary.isTorn = true;
    else if (summary && item.type === "event") add(summary, item.event);
  }
  if (!summary) throw corruptLine(path, { number: 1, offset: 0 }, "is not the header of a session");
  if (`${summary.header.id}.jsonl` === basename(path)) return summary;
  throw corruptLine(path, { number: 1, offset: 0 }, `belongs to another session, \`${summary.header.id}\``);
}

function emptySummary(header: HeaderLine): SessionSummary {
  return { header, outcome: "not_started", turns: 0, toolCalls: 0, prompt: "", isTorn: false };
}

function add(summary: SessionSummary, event: EventLine): void {
  switch (event.type) {
    case "run_started":
      summary.outcome = "interrupted";
      return;
    case "run_end":
      summary.outcome = event.outcome;
      return;
    case "assistant":
      summary.turns++;
      return;
    case "tool_result":
      summary.toolCalls++;
      return;
    case "user":
      summary.prompt ||= event.content;
      return;
    default:
      return;
  }
}

function readLine(path: string, line: FileLine): HistoryItem {
  const json = jsonOf(line);
  if (json === undefined) throw corruptLine(path, line, "is not JSON");
  if (line.number === 1) {
    const header = parse(path, line, headerLine, json);
    if (header.version === 1) return { type: "header", header };
    throw corruptLine(path, line, `is of version ${header.version}; this glovebox reads version 1`);
  }
  const event = parse(path, line, eventLine, json);
  if (event.seq === line.number - 1) return { type: "event", event };
  throw corruptLine(
    path,
    line,
    `has number ${event.seq} where ${line.number - 1} follows: lines are missing or doubled`,
  );
}

const ESCAPED_SURROGATE = /\\ud[89a-f]/i;

function jsonOf({ text }: FileLine): unknown {
  if (text === undefined) return undefined;
  try {
    const json: unknown = JSON.parse(text);
    // No provider takes half a pair, and logs were written before it was kept out of them.
    return ESCAPED_SURROGATE.test(text) ? mapStrings(json, wellFormed) : json;
  } catch {
    return undefined;
  }
}

function parse<T>(path: string, line: FileLine, schema: z.ZodType<T>, json: unknown): T {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw corruptLine(path, line, `is not what a session writes: ${issue?.path.join(".") || "it"}: ${issue?.message}`);
}
