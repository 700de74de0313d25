import { GloveboxError, messageOf, toGloveboxError } from "../core/errors.ts";

/** The error of a sandbox that no longer answers. What a person can do about the cause, if that is known, is the hint. */
export function lost(words: string, cause?: unknown): GloveboxError {
  const detail = cause === undefined ? "" : `: ${messageOf(cause)}`;
  const known = cause === undefined ? undefined : toGloveboxError(cause).hint;
  return new GloveboxError("SANDBOX_LOST", `${words}${detail}`, {
    hint: known ?? "Its container is gone or does not react; `glovebox doctor` checks the engine",
    cause,
  });
}
