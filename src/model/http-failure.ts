import type { ErrorCode } from "../core/errors.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import { type Endpoint, ModelFailure, type RetryAdvice } from "./failure.ts";
import { isOverflow, isQuota, isTryAgain } from "./failure-words.ts";
import { errorNames, isHtml, providerMessage } from "./provider-message.ts";
import { requestedWaitMs } from "./retry-after.ts";

/** What a server answered that is not a response of a model. */
export type HttpAnswer = {
  status: number;
  headers?: Headers;
  body: string;
  /** The error came inside an answer of 200: with a code of its own, or `status` is what we take it for. */
  streamed?: "with_code" | "without_code";
};

const TRANSIENT = new Set([408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529]);

/** The failure an HTTP answer means, with the provider's own words clipped, made harmless and masked. */
export function httpFailure(answer: HttpAnswer, endpoint: Endpoint): ModelFailure {
  if (isPageForApi(answer)) return htmlFailure(endpoint);
  const said = providerMessage(answer.body, endpoint.mask);
  const words = `${said} ${errorNames(answer.body)}`;
  const { code, hint, overflow } = judge(answer, words, endpoint);
  return new ModelFailure(code, sentence(answer, said, endpoint), {
    retry: adviceFor(answer, words, overflow ?? false),
    ...(overflow && { overflow }),
    hint,
  });
}

/** A page came where an API should be: usually a base URL that lacks its `/v1`. */
export function htmlFailure(endpoint: Endpoint): ModelFailure {
  return new ModelFailure("MODEL_PROTOCOL", `\`${endpoint.url}\` answered HTML, not an OpenAI-style API`, {
    hint: BASE_URL_HINT,
  });
}

export const BASE_URL_HINT = "Check the base URL (`OPENAI_BASE_URL`); most servers want one that ends in `/v1`";

/** A gateway's page about a passing trouble or a missing key says less than its status does. */
function isPageForApi({ status, body }: HttpAnswer): boolean {
  return status >= 400 && status !== 401 && !TRANSIENT.has(status) && isHtml(body);
}

type Judgement = { code: ErrorCode; hint?: string; overflow?: boolean };

function judge({ status, body }: HttpAnswer, words: string, { provider, model }: Endpoint): Judgement {
  if (status !== 429 && isOverflow(status, words)) {
    return { code: "MODEL_REJECTED", overflow: true, hint: "The conversation is longer than the model's context" };
  }
  if (status === 401 || status === 403) {
    return { code: "CREDENTIALS_REJECTED", hint: `Check the key for \`${provider}\` and what it may use` };
  }
  if (status === 404 && !namesNothing(body)) {
    return { code: "MODEL_NOT_FOUND", hint: `Check the model's name, \`${model}\`` };
  }
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) {
    return { code: "MODEL_PROTOCOL", hint: BASE_URL_HINT };
  }
  if (status === 429 || status === 402 || isQuota(words)) return rateLimited(words);
  if (status >= 500 || TRANSIENT.has(status)) return { code: "MODEL_UNREACHABLE" };
  return { code: "MODEL_REJECTED" };
}

function rateLimited(words: string): Judgement {
  const hint = isQuota(words) ? "Check the plan and the credit of the account" : "Wait, or ask for less at a time";
  return { code: "MODEL_RATE_LIMITED", hint };
}

/** A 404 about the path and not about the model: no JSON at all, or the bare answer of a web framework. */
function namesNothing(body: string): boolean {
  return !body.trimStart().startsWith("{") || /^\s*\{\s*"detail"\s*:\s*"Not Found"\s*\}\s*$/.test(body);
}

function adviceFor(answer: HttpAnswer, words: string, overflow: boolean): RetryAdvice {
  if (overflow || isQuota(words)) return { type: "never" };
  if (!TRANSIENT.has(answer.status) && !(answer.status >= 400 && isTryAgain(words))) return { type: "never" };
  const ms = answer.headers && requestedWaitMs(answer.headers, Date.now());
  return ms === undefined ? { type: "back_off" } : { type: "wait", ms };
}

function sentence({ status, body, headers, streamed }: HttpAnswer, said: string, { provider, url }: Endpoint): string {
  if (streamed) {
    const code = streamed === "with_code" ? ` (${status})` : "";
    return `\`${provider}\` answered with an error${code}: ${said || "no reason given"}`;
  }
  if (status >= 300 && status < 400) {
    const target = clip(visibleLine(headers?.get("location") ?? "nowhere"), 200);
    return `\`${url}\` answered with a redirect (${status}) to ${target}`;
  }
  const words = isHtml(body) ? "an HTML page" : said || "no reason given";
  return status === 401 || status === 403
    ? `\`${provider}\` rejected the credentials (${status}): ${words}`
    : `\`${provider}\` answered ${status}: ${words}`;
}
