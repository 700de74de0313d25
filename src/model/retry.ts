import { setTimeout as sleepMs } from "node:timers/promises";
import type { AssistantMessage } from "../core/messages.ts";
import { ModelFailure } from "./failure.ts";
import { abortedMessage, type ModelClient, type ModelRequest, type RespondOptions } from "./model-client.ts";

const BASE_MS = 2_000;
/** The longest wait, our own or one the provider asks for. */
const CAP_MS = 60_000;

/** A failed attempt that is about to be repeated; the deltas it sent are void. */
export type RetryEvent = {
  /** 1 for the first repetition. */
  retry: number;
  maxRetries: number;
  delayMs: number;
  failure: ModelFailure;
};

export type RetryOptions = {
  /** Repetitions of one request; 4 when omitted. */
  attempts?: number;
  /** Resolves after `ms`, or earlier when the signal aborts. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Between 0 and 1, for the jitter. */
  random?: () => number;
  onRetry: (event: RetryEvent) => void;
};

/** `client`, which repeats what failed in passing. The only place that retries. */
export function withRetries(client: ModelClient, options: RetryOptions): ModelClient {
  return {
    provider: client.provider,
    id: client.id,
    api: client.api,
    respond: (request, respondOptions) => persist(client, request, respondOptions, options),
  };
}

async function persist(
  client: ModelClient,
  request: ModelRequest,
  respondOptions: RespondOptions,
  { attempts = 4, sleep = pause, random = Math.random, onRetry }: RetryOptions,
): Promise<AssistantMessage> {
  for (let retry = 1; ; retry++) {
    try {
      return await client.respond(request, respondOptions);
    } catch (thrown) {
      if (!(thrown instanceof ModelFailure) || thrown.retry.type === "never" || retry > attempts) throw thrown;
      const delayMs = delayOf(thrown, retry, random);
      onRetry({ retry, maxRetries: attempts, delayMs, failure: thrown });
      await sleep(delayMs, respondOptions.signal);
      if (respondOptions.signal.aborted) return abortedMessage(client.id);
    }
  }
}

function delayOf(failure: ModelFailure, retry: number, random: () => number): number {
  if (failure.retry.type !== "wait") {
    const jitter = 0.8 + 0.4 * random();
    return Math.min(CAP_MS, Math.round(BASE_MS * 2 ** (retry - 1) * jitter));
  }
  if (failure.retry.ms <= CAP_MS) return failure.retry.ms;
  throw tooLong(failure, failure.retry.ms);
}

function tooLong(failure: ModelFailure, ms: number): ModelFailure {
  const given = new ModelFailure(failure.code, `${failure.message}; it asks to wait ${duration(ms)}`, {
    hint: "Waits of up to 60 s are waited for; run again later",
    cause: failure,
  });
  given.partial = failure.partial;
  return given;
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleepMs(ms, undefined, { signal });
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}
