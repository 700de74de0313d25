import { NO_USAGE, type Usage } from "../core/messages.ts";
import type { ChatUsage } from "./chat-chunk.ts";

/** What a provider has reported so far about one request. */
export type Reported = { usage: Usage | undefined; usd: number | undefined };

/**
 * `before` with one more report. Reports are cumulative, so each class is the largest seen, never the sum. All zero is
 * no report: no request has an input of nothing.
 */
export function mergeUsage(before: Reported, report: ChatUsage): Reported {
  const usage = largest(before.usage ?? NO_USAGE, usageOf(report));
  const known = Object.values(usage).some((count) => count > 0);
  return { usage: known ? usage : undefined, usd: report.cost ?? before.usd };
}

/** Cached tokens are counted inside the prompt tokens; our classes exclude each other. */
function usageOf(report: ChatUsage): Usage {
  const cacheRead = report.prompt_tokens_details?.cached_tokens ?? report.prompt_cache_hit_tokens ?? 0;
  const cacheWrite = report.prompt_tokens_details?.cache_write_tokens ?? 0;
  return {
    input: Math.max(0, (report.prompt_tokens ?? 0) - cacheRead - cacheWrite),
    output: report.completion_tokens ?? 0,
    reasoning: report.completion_tokens_details?.reasoning_tokens ?? 0,
    cache_read: cacheRead,
    cache_write: cacheWrite,
  };
}

function largest(a: Usage, b: Usage): Usage {
  return {
    input: Math.max(a.input, b.input),
    output: Math.max(a.output, b.output),
    reasoning: Math.max(a.reasoning, b.reasoning),
    cache_read: Math.max(a.cache_read, b.cache_read),
    cache_write: Math.max(a.cache_write, b.cache_write),
  };
}
