/**
 * Milliseconds the provider asks to wait before the next request, or undefined. `Retry-After` is seconds or a date
 * (RFC 9110 §10.2.3), `retry-after-ms` milliseconds; `x-ratelimit-reset` seconds from now, or Unix seconds, or
 * milliseconds, whichever its size says.
 */
export function requestedWaitMs(headers: Headers, nowMs: number): number | undefined {
  return (
    number(headers.get("retry-after-ms")) ??
    secondsOrDate(headers.get("retry-after"), nowMs) ??
    moment(headers.get("x-ratelimit-reset-after"), nowMs) ??
    moment(headers.get("x-ratelimit-reset"), nowMs)
  );
}

function secondsOrDate(value: string | null, nowMs: number): number | undefined {
  const seconds = number(value);
  if (seconds !== undefined) return seconds * 1000;
  // A date that cannot be read must not become a wait of 0.
  const date = value === null ? Number.NaN : Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

function moment(value: string | null, nowMs: number): number | undefined {
  const count = number(value);
  if (count === undefined) return undefined;
  if (count > 1e12) return Math.max(0, count - nowMs);
  if (count > 1e9) return Math.max(0, count * 1000 - nowMs);
  return count * 1000;
}

function number(value: string | null): number | undefined {
  return value !== null && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}
