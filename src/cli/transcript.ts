import { isJsonObject } from "../core/json.ts";
import { type ToolCallPart, textOf, toolCallsOf } from "../core/messages.ts";
import { clip } from "../core/truncate.ts";
import { visible, visibleLine } from "../core/visible.ts";
import type { EventLine, HistoryItem, SessionSummary } from "../session/history.ts";
import { hostAnswerWords, RefusalNotes } from "./egress-words.ts";
import { mountWords, quarantineWords } from "./guard-words.ts";
import type { Paint } from "./paint.ts";
import { toolRow } from "./tool-row.ts";
import { countWords, timeWords } from "./words.ts";

/** Lines of a result that are shown; `--json` has all. */
const RESULT_LINES = 12;
const RESULT_CHARS = 400;

/** `diff`: each change is shown with its diff, whole as the log has it. */
export type TranscriptOptions = { columns: number; paint: Paint; diff?: boolean };

/** A session as a person reads it, item by item. Everything in it is harmless on a terminal. */
export class Transcript {
  readonly #summary: SessionSummary;
  readonly #options: TranscriptOptions;
  readonly #calls = new Map<string, ToolCallPart>();
  readonly #refusals = new RefusalNotes();

  constructor(summary: SessionSummary, options: TranscriptOptions) {
    this.#summary = summary;
    this.#options = options;
  }

  lines(item: HistoryItem): string[] {
    switch (item.type) {
      case "header":
        return this.#heading();
      case "event":
        return this.#event(item.event);
      case "torn":
        return ["", this.#note(`the last line was cut off by a crash (${item.bytes} bytes) and is not shown`)];
      default:
        return item satisfies never;
    }
  }

  #heading(): string[] {
    const { paint } = this.#options;
    const { header, outcome, turns, toolCalls } = this.#summary;
    const figures = `${outcome.replace("_", " ")}, ${countWords(turns, "turn")}, ${countWords(toolCalls, "call")}`;
    return [
      paint("bold", `Session ${header.id}`),
      `${timeWords(new Date(header.created_at))}  ${visibleLine(header.cwd)}  glovebox ${visibleLine(header.app_version)}`,
      figures,
    ];
  }

  #event(event: EventLine): string[] {
    const { paint } = this.#options;
    switch (event.type) {
      case "user":
        return ["", ...block(event.content).map((line) => `${paint("cyan", ">")} ${line}`)];
      case "assistant":
        return this.#assistant(event);
      case "tool_result":
        return this.#result(event);
      case "approval":
        return [this.#note(approvalWords(event))];
      case "request_failed":
        return [this.#note(`request failed: ${visibleLine(event.error.message)}`)];
      case "sandbox":
        return this.#sandbox(event);
      case "quarantine":
        return [this.#note(quarantineWords(event))];
      case "egress":
        return [this.#refusals.words(event)].flatMap((words) => (words === undefined ? [] : [this.#note(words)]));
      case "host_approval":
        return [this.#note(hostAnswerWords(event))];
      case "run_end":
        return ["", ...runEndLines(event, paint)];
      case "system":
      case "run_started":
      case "request_started":
      case "call_prepared":
      case "call_started":
      case "usage":
      case "policy":
      case "egress_end":
        return [];
      default:
        return event satisfies never;
    }
  }

  #assistant({ content, stop_reason: reason }: Extract<EventLine, { type: "assistant" }>): string[] {
    const parts = content.flatMap((part) => (part.type === "reasoning" ? [] : [part]));
    for (const call of toolCallsOf(parts)) this.#calls.set(call.id, call);
    const words = textOf(parts).trimEnd();
    const isUsual = reason === "stop" || reason === "tool_use";
    return [
      ...(words ? ["", ...block(words)] : []),
      ...(isUsual ? [] : [this.#note(`the response ended with ${visibleLine(reason)}`)]),
    ];
  }

  #result(event: Extract<EventLine, { type: "tool_result" }>): string[] {
    const { columns, paint } = this.#options;
    const text = event.content.map((part) => (part.type === "text" ? part.text : `(image, ${part.mime})`)).join("");
    const all = block(text.trimEnd());
    const shown = all.slice(0, RESULT_LINES).map((line) => paint("dim", `    ${clip(line, RESULT_CHARS)}`));
    const left = all.length - shown.length;
    const more = left > 0 ? [paint("dim", `    … ${countWords(left, "more line")}`)] : [];
    const diff = this.#options.diff ? diffLines(event.details.diff, paint) : [];
    return [toolRow(this.#calls.get(event.call_id), event, columns, paint), ...shown, ...more, ...diff];
  }

  #sandbox({ event, image, detail }: Extract<EventLine, { type: "sandbox" }>): string[] {
    switch (event) {
      case "started":
        return [`sandbox of ${visibleLine(image)}`];
      case "lost":
      case "toolhost_restarted":
        return [this.#note(`sandbox ${event.replace("_", " ")}: ${visibleLine(clip(JSON.stringify(detail), 300))}`)];
      case "remounted":
      case "links_protected":
        return mountWords(event, isJsonObject(detail) ? detail : {}).map((words) => this.#note(words));
      case "selftest":
      case "ended":
        return [];
      default:
        return event satisfies never;
    }
  }

  #note(text: string): string {
    return `${this.#options.paint("yellow", "!")} ${text}`;
  }
}

function diffLines(diff: string | undefined, paint: Paint): string[] {
  if (diff === undefined) return [];
  return block(diff.trimEnd()).map((line) => {
    if (line.startsWith("+")) return `    ${paint("green", line)}`;
    return `    ${line.startsWith("-") ? paint("red", line) : line}`;
  });
}

function block(text: string): string[] {
  return visible(text).split("\n");
}

function approvalWords({ decision, by, scope, reason }: Extract<EventLine, { type: "approval" }>): string {
  const who = { person: "a person", flag: "`--approve`", nobody: "nobody there", grant: "an earlier always" }[by];
  const reach = decision === "yes" && scope === "session" ? ", for the session" : "";
  return `approval: ${decision} (${who}${reach})${reason ? `: ${visibleLine(reason)}` : ""}`;
}

function runEndLines({ outcome, error }: Extract<EventLine, { type: "run_end" }>, paint: Paint): string[] {
  const end = paint(outcome === "completed" ? "green" : "yellow", outcome);
  if (!error) return [end];
  return [`${end}: ${visibleLine(error.message)}`, ...(error.hint ? [`  ${visibleLine(error.hint)}`] : [])];
}
