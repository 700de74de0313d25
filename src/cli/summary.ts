import { visibleLine } from "../core/visible.ts";
import type { RunResult } from "../session/result.ts";
import { refusedLines } from "./egress-words.ts";
import type { Paint } from "./paint.ts";
import { countWords, durationWords } from "./words.ts";

/** The end of a run for a person: one line of figures, what was denied and why, where the session is. */
export function summaryLines(result: RunResult, paint: Paint): string[] {
  const { session_id: session } = result;
  return [
    `${outcomeWords(result, paint)}  ${paint("dim", figures(result).join(" · "))}`,
    ...deniedLines(result),
    ...refusedLines(result),
    ...(session ? [paint("dim", `glovebox sessions show ${session}`)] : []),
  ];
}

function outcomeWords({ outcome, exit_code: code, limits, denials }: RunResult, paint: Paint): string {
  switch (outcome) {
    case "completed":
      if (code === 0) return paint("green", "completed");
      return paint("yellow", `completed, with ${denials.length > 0 ? "calls denied" : "hosts refused"}`);
    case "limit":
      return paint("yellow", `stopped at its limit of ${limitWords(limits)}`);
    case "aborted":
    case "truncated":
    case "refused":
      return paint("yellow", outcome === "refused" ? "refused by the model" : outcome);
    case "failed":
      return paint("red", "failed");
    default:
      return outcome satisfies never;
  }
}

function limitWords({ set, used }: RunResult["limits"]): string {
  if (used.tool_calls >= set.tool_calls) return `${set.tool_calls} tool calls`;
  if (used.seconds >= set.seconds) return `${set.seconds} s (\`--max-seconds\`)`;
  return `${countWords(set.turns, "turn")} (\`--max-turns\`)`;
}

function figures({ turns, tool_calls: calls, usage, cost, timing }: RunResult): string[] {
  const input = usage.input + usage.cache_read + usage.cache_write;
  const bad = calls.errors > 0 ? ` (${calls.errors} not ok)` : "";
  return [
    countWords(turns, "turn"),
    `${countWords(calls.total, "call")}${bad}`,
    ...(input + usage.output > 0 ? [`${input} tokens in, ${usage.output} out`] : []),
    ...(cost.reported_usd === null ? [] : [`${cost.complete ? "" : "at least "}$${cost.reported_usd.toFixed(4)}`]),
    durationWords(timing.total_ms),
  ];
}

/** Each rule once, however many calls it denied. */
function deniedLines({ denials }: RunResult): string[] {
  const byRule = new Map<string, { count: number; enable: string }>();
  for (const { rule, enable_with: enable } of denials) {
    const known = byRule.get(rule);
    byRule.set(rule, { count: (known?.count ?? 0) + 1, enable });
  }
  return [...byRule].map(
    ([rule, { count, enable }]) =>
      `${countWords(count, "call")} denied by ${visibleLine(rule)}: ${visibleLine(enable)}`,
  );
}
