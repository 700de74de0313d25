import { setMaxListeners } from "node:events";
import { type GloveboxError, toGloveboxError } from "../core/errors.ts";
import type { Outcome } from "../core/events.ts";
import { type AssistantMessage, type AssistantPart, toolCallsOf } from "../core/messages.ts";
import type { ModelClient } from "../model/model-client.ts";
import type { CallDeps } from "./call.ts";
import { type GroupStop, refuseTruncated, runCallGroup } from "./call-group.ts";
import type { LimitReached, RunLimits } from "./limits.ts";

export type AgentDeps = Omit<CallDeps, "steer"> & {
  /** Retries, if any, are inside. */
  model: ModelClient;
  system: string;
  limits: RunLimits;
};

/** How a run ended. `error` is set for `failed` only, `limit` for `limit` only. */
export type RunEnd = { outcome: Outcome; error?: GloveboxError; limit?: LimitReached };

/**
 * Takes turns until the model calls no more tools, a limit is reached, `signal` aborts or something fails. The context
 * is what the journal holds, the prompt included. Never rejects.
 */
export async function takeTurns(deps: AgentDeps, signal: AbortSignal): Promise<RunEnd> {
  const counts = { calls: 0 };
  const stop = (): GroupStop | undefined => stopOf(deps, counts.calls, signal);
  const steering: string[] = [];
  const callDeps = { ...deps, steer: (text: string): unknown => steering.push(text) };
  const both = AbortSignal.any([signal, deps.clock.signal]);
  // Each of the calls that run together listens, and once more when the tool host is lost: no leak to be warned of.
  setMaxListeners(0, both);
  try {
    for (let turn = 1; turn <= deps.limits.turns; turn++) {
      const response = await request(turn, deps, both);
      const content = await commit(response, deps);
      const end = await answerCalls({ ...response, content }, callDeps, {
        signal: both,
        stop: () => stop() ?? countCall(counts),
      });
      const ended = end ?? endOfStop(stop()) ?? failure(deps);
      if (ended) return ended;
      await deliver(steering, deps);
    }
    return { outcome: "limit", limit: { limit: "turns", value: deps.limits.turns } };
  } catch (error) {
    return endOfStop(stop()) ?? { outcome: "failed", error: toGloveboxError(error) };
  }
}

/** What a person said meanwhile follows the results of the calls. */
async function deliver(steering: string[], { journal }: AgentDeps): Promise<void> {
  for (const content of steering.splice(0)) await journal.append({ type: "user", source: "steer", content });
}

async function request(turn: number, deps: AgentDeps, signal: AbortSignal): Promise<AssistantMessage> {
  const { journal, model, system, tools } = deps;
  await journal.append({ type: "request_started", number: turn });
  return model.respond(
    { system, messages: journal.messages, tools },
    {
      signal,
      onDelta: ({ type, text }) =>
        journal.show({ type: type === "text" ? "text_delta" : "reasoning_delta", live: true, text }),
    },
  );
}

/** Resolves with the content as it is in the log: a secret the model was tricked into naming is masked there. */
async function commit(response: AssistantMessage, { journal, model }: AgentDeps): Promise<AssistantPart[]> {
  const { content, stopReason, usage, reportedUsd, responseId } = response;
  if (stopReason === "aborted" && content.length === 0) return content;
  const stored = await journal.append({
    type: "assistant" as const,
    model: response.model,
    provider: model.provider,
    api: model.api,
    stop_reason: stopReason,
    content,
    usage: usage ?? null,
    reported_usd: reportedUsd ?? null,
    response_id: responseId ?? null,
  });
  if (usage) await journal.append({ type: "usage", cause: "response", usage, reported_usd: reportedUsd ?? null });
  return stored.content;
}

/** Gives every call of the response its result, and says how the run ends if it ends here. */
async function answerCalls(
  response: AssistantMessage,
  deps: CallDeps,
  options: { signal: AbortSignal; stop: () => GroupStop | undefined },
): Promise<RunEnd | undefined> {
  const calls = toolCallsOf(response.content);
  switch (response.stopReason) {
    case "stop":
    case "tool_use":
    case "aborted":
      await runCallGroup(calls, deps, options);
      return calls.length === 0 && response.stopReason !== "aborted" ? { outcome: "completed" } : undefined;
    case "length":
      await refuseTruncated(calls, deps);
      return calls.length === 0 ? { outcome: "truncated" } : undefined;
    case "refusal":
      await runCallGroup(calls, deps, { ...options, stop: () => ({ why: "aborted" }) });
      return { outcome: "refused" };
    default:
      return response.stopReason satisfies never;
  }
}

function stopOf({ clock, limits }: AgentDeps, calls: number, signal: AbortSignal): GroupStop | undefined {
  if (signal.aborted) return { why: "aborted" };
  if (clock.signal.aborted) return { why: "limit", limit: { limit: "seconds", value: limits.seconds } };
  if (calls >= limits.toolCalls) return { why: "limit", limit: { limit: "toolCalls", value: limits.toolCalls } };
  return undefined;
}

function countCall(counts: { calls: number }): undefined {
  counts.calls++;
}

function endOfStop(stop: GroupStop | undefined): RunEnd | undefined {
  if (!stop) return undefined;
  return stop.why === "aborted" ? { outcome: "aborted" } : { outcome: "limit", limit: stop.limit };
}

function failure({ sandbox }: AgentDeps): RunEnd | undefined {
  return sandbox.failure && { outcome: "failed", error: sandbox.failure };
}
