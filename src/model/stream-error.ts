import { isJsonObject } from "../core/json.ts";
import type { Endpoint, ModelFailure } from "./failure.ts";
import { httpFailure } from "./http-failure.ts";

/** Names providers give to errors, as the HTTP status that means the same. */
const STATUS_OF_NAME: Readonly<Record<string, number>> = {
  context_length_exceeded: 413,
  request_too_large: 413,
  invalid_request_error: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  permission_error: 403,
  model_not_found: 404,
  not_found_error: 404,
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  insufficient_quota: 429,
  server_error: 500,
  internal_error: 500,
  api_error: 500,
  overloaded_error: 529,
};

/**
 * The failure an error inside an answer of status 200 means. Its own code decides; one without a code counts as
 * `statusWhenSilent`.
 */
export function streamError(error: unknown, statusWhenSilent: number, endpoint: Endpoint): ModelFailure {
  const status = statusOf(error);
  const body = JSON.stringify({ error });
  return status === undefined
    ? httpFailure({ status: statusWhenSilent, body, streamed: "without_code" }, endpoint)
    : httpFailure({ status, body, streamed: "with_code" }, endpoint);
}

function statusOf(error: unknown): number | undefined {
  if (!isJsonObject(error)) return undefined;
  for (const name of [error["code"], error["status"], error["type"]]) {
    const text = String(name);
    // Whole tokens only: a request id with 503 in it is not a 503.
    if (/^[345]\d\d$/.test(text)) return Number(text);
    if (STATUS_OF_NAME[text] !== undefined) return STATUS_OF_NAME[text];
  }
  return undefined;
}
