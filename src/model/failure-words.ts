const OVERFLOW =
  /context[_ -]?(length|window|size)|maximum context|exceeds? the (model'?s )?(maximum )?(context|prompt|input)|(prompt|input|request) (is )?too (long|large)|too many (input )?tokens|reduce the length|request_too_large|\bn_ctx\b/i;
const RATE_WORDS = /rate.?limit|per (second|minute|hour|day)|\b[TR]P[MD]\b/i;
const QUOTA =
  /insufficient[_ ](quota|funds|balance)|exceeded your current quota|\bbilling\b|\bcredits?\b|(monthly|spend(ing)?|usage) (limit|cap)|payment required/i;
const TRY_AGAIN =
  /(please )?(re)?try (again|your request)|please retry|retry your request|overloaded|temporarily unavailable/i;

/** Whether a provider's refusal means that the request was longer than the context. Never true of a rate limit. */
export function isOverflow(status: number, said: string): boolean {
  if (RATE_WORDS.test(said)) return false;
  return status === 413 || OVERFLOW.test(said);
}

/** Whether waiting does not help: money or a plan is at its end. */
export function isQuota(said: string): boolean {
  return QUOTA.test(said);
}

export function isTryAgain(said: string): boolean {
  return TRY_AGAIN.test(said);
}
