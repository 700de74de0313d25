import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { ToolCallPart } from "../core/messages.ts";
import { changedLines, type Denial, type ToolDetails, type ToolStatus } from "../core/tool-result.ts";
import { visibleLine } from "../core/visible.ts";
import { clipToWidth, widthOf } from "./cells.ts";
import type { Paint, Style } from "./paint.ts";
import { durationWords } from "./words.ts";

/** What a row says of a finished call; a `tool_result` of the log is one. */
export type RowResult = {
  tool_name: string;
  status: ToolStatus;
  reason?: string | undefined;
  denial?: Denial | undefined;
  duration_ms: number;
  details: ToolDetails;
  content: readonly ({ type: "text"; text: string } | { type: "image" })[];
};

const SYMBOLS: Record<ToolStatus, { symbol: string; style: Style }> = {
  ok: { symbol: "✓", style: "green" },
  failed: { symbol: "✗", style: "red" },
  invalid: { symbol: "✗", style: "red" },
  not_run: { symbol: "–", style: "yellow" },
  denied: { symbol: "⊘", style: "yellow" },
  timed_out: { symbol: "✗", style: "red" },
  cancelled: { symbol: "–", style: "yellow" },
  lost: { symbol: "✗", style: "red" },
};

/** A finished call on one line of at most `columns`: symbol, tool, main argument, what became of it, how long. */
export function toolRow(call: ToolCallPart | undefined, result: RowResult, columns: number, paint: Paint): string {
  const { symbol, style } = SYMBOLS[result.status];
  const duration = durationWords(result.duration_ms);
  const name = clipToWidth(visibleLine(result.tool_name), 24);
  const room = columns - widthOf(`${symbol} ${name}    ${duration}`);
  const main = call ? mainArgument(call) : "";
  const words = clipToWidth(visibleLine(statusWords(result, main)), Math.max(12, Math.floor(room * 0.6)));
  const argument = clipToWidth(main, Math.max(8, room - widthOf(words) - 2));
  const parts = [`${paint(style, symbol)} ${paint("bold", name)}${argument && ` ${argument}`}`];
  if (words) parts.push(result.status === "ok" ? words : paint(style, words));
  return [...parts, paint("dim", duration)].join("  ");
}

/** The argument that tells a call from others, on one harmless line. */
export function mainArgument({ name, arguments: raw }: ToolCallPart): string {
  const args = parse(raw);
  return visibleLine(args ? wordsOf(name, args) : raw);
}

function wordsOf(tool: string, args: JsonObject): string {
  const text = (key: string): string => (typeof args[key] === "string" ? args[key] : "");
  switch (tool) {
    case "bash":
      return typeof args["job"] === "number"
        ? jobWords(args["job"], args["kill"] === true)
        : `${text("command").trim()}${args["background"] === true ? " &" : ""}`;
    case "pty":
      return ptyWords(args);
    case "read":
      return typeof args["offset"] === "number" ? `${text("path")}:${args["offset"]}` : text("path");
    case "write":
    case "edit":
      return text("path");
    case "ls":
      return text("path") || ".";
    case "grep":
    case "find":
      return text("path") ? `${text("pattern")} in ${text("path")}` : text("pattern");
    default:
      return JSON.stringify(args);
  }
}

function jobWords(job: number, kills: boolean): string {
  if (job === 0) return "jobs";
  return kills ? `kill job ${job}` : `job ${job}`;
}

/** Control characters as the model wrote them: a Ctrl-C must be seen. */
function ptyWords({ action, command, id, text }: JsonObject): string {
  if (action === "start" && typeof command === "string") return command.trim();
  const typed = typeof text === "string" ? ` ${JSON.stringify(text)}` : "";
  return `${String(action)} ${String(id)}${typed}`;
}

function parse(raw: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(raw);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function statusWords(result: RowResult, argument: string): string {
  const { status, details } = result;
  switch (status) {
    case "ok":
      return okWords(details, argument);
    case "failed":
      return (
        details.signal ??
        (details.exit_code === undefined ? `failed: ${firstLine(result)}` : `exit ${details.exit_code}`)
      );
    case "invalid":
      return `invalid: ${firstLine(result)}`;
    case "denied":
      return deniedWords(result);
    case "not_run":
      return "not run";
    case "timed_out":
      return "timed out";
    case "cancelled":
    case "lost":
      return status;
    default:
      return status satisfies never;
  }
}

function okWords(details: ToolDetails, argument: string): string {
  const job = details.job_id;
  // Where the call named the job, the row has said it.
  if (job !== undefined) return argument.endsWith(`job ${job}`) ? "" : `job ${job}`;
  const lines = changedLines(details);
  return lines ? `+${lines.added} -${lines.removed}` : "";
}

function deniedWords({ reason, denial }: RowResult): string {
  if (reason === "denied_user") return "denied by you";
  if (reason === "denied_noninteractive") return `denied, nobody said yes (${denial?.rule ?? "approval"})`;
  return `denied by ${denial?.rule ?? "policy"}`;
}

function firstLine({ content }: RowResult): string {
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  return text.trimStart().split("\n", 1)[0] ?? "";
}
