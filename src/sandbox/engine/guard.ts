import type Docker from "dockerode";
import { GloveboxError, messageOf } from "../../core/errors.ts";
import { clip } from "../../core/truncate.ts";
import { visibleLine } from "../../core/visible.ts";
import { statusOf } from "./status.ts";

/** How long the engine may take to answer, and how long once it has not: a dead one is not waited for at every step. */
export type Patience = { firstMs: number; nextMs: number };

/** A start on a machine under load takes seconds. */
const PATIENCE: Patience = { firstMs: 60_000, nextMs: 2_000 };

/** Pulls, builds and waits take as long as they take. */
const BOUNDED = /^\/(?:_ping|info|containers|exec|volumes)\b(?!.*\/wait\b)/;

/**
 * Makes every failed request of a client an `ENGINE_FAILED` with the engine's words, and ends
 * those that are not answered. Gives the same client.
 */
export function guard(docker: Docker, { firstMs, nextMs }: Patience = PATIENCE): Docker {
  const { modem } = docker;
  const dial: Dial = modem.dial.bind(modem);
  let isSilent = false;
  modem.dial = (options: Parameters<Dial>[0], callback: Parameters<Dial>[1]): void => {
    if (!BOUNDED.test(options.path)) {
      return dial(options, (error, answer) => callback?.(error && engineFailure(error), answer));
    }
    const limitMs = isSilent ? nextMs : firstMs;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limitMs);
    const abortSignal = options.abortSignal ? AbortSignal.any([options.abortSignal, late.signal]) : late.signal;
    dial({ ...options, abortSignal }, (error, answer) => {
      clearTimeout(timer);
      isSilent = abortSignal.aborted;
      callback?.(isSilent ? unanswered() : error && engineFailure(error), answer);
    });
  };
  return docker;
}

type Dial = Docker["modem"]["dial"];

/** What the engine said, or what became of the connection, as part of a sentence. */
export function engineWords(thrown: unknown): string {
  const origin = thrown instanceof GloveboxError && thrown.code === "ENGINE_FAILED" ? (thrown.cause ?? thrown) : thrown;
  const said = messageOf(origin).replace(/^\(HTTP code \d+\) [^-]*- /, "");
  return clip(visibleLine(said.trim()), 500) || `status ${statusOf(origin) ?? "unknown"}`;
}

/** With the status of the answer, as dockerode's own errors have it, where there was one. */
function engineFailure(error: unknown): GloveboxError {
  const statusCode = statusOf(error);
  const what = statusCode === undefined ? "The connection to the engine broke" : "The engine refused a request";
  const failure = new GloveboxError("ENGINE_FAILED", `${what}: ${engineWords(error)}`, { hint: HINT, cause: error });
  return statusCode === undefined ? failure : Object.assign(failure, { statusCode });
}

/** The engine said nothing: it is away, or the connection to it. */
export function isDisconnected(thrown: unknown): boolean {
  return thrown instanceof GloveboxError && thrown.code === "ENGINE_FAILED" && statusOf(thrown) === undefined;
}

function unanswered(): GloveboxError {
  return new GloveboxError("ENGINE_FAILED", "The engine does not answer any more", { hint: HINT });
}

const HINT = "`glovebox doctor` checks the engine; `glovebox gc` removes what could not be removed now";
