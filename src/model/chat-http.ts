import { OpenAI } from "openai";
import type { Secret } from "../core/secrets.ts";

/** Enough for any error message; an endless error body must not fill the memory. */
const MAX_ERROR_CHARS = 64 * 1024;

export type ChatServer = {
  baseUrl: string;
  key: Secret;
  /** OpenAI's organisation and project, when the person belongs to several. */
  organization?: string | undefined;
  project?: string | undefined;
};

/**
 * The vendor's client without what we do ourselves: no retries, no log, no redirects (the conversation goes to the
 * server the person named and no other). Everything it would read from the environment is passed.
 */
export function openaiClient(server: ChatServer, timeoutMs: number): OpenAI {
  return new OpenAI({
    apiKey: server.key.reveal(),
    baseURL: server.baseUrl,
    organization: server.organization ?? null,
    project: server.project ?? null,
    webhookSecret: null,
    logLevel: "off",
    maxRetries: 0,
    // Node's timers fire at once beyond 2^31 ms.
    timeout: Math.min(timeoutMs, 2 ** 31 - 1),
    fetch: boundedFetch,
    fetchOptions: { redirect: "manual" },
  });
}

/** The SDK reads the whole body of an error: here it is cut first, and its text kept as it came. */
const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.ok) return response;
  const text = await readText(response, MAX_ERROR_CHARS);
  throw new HttpError(response.status, response.headers, text);
};

/** An answer with a status other than 2xx. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;

  constructor(status: number, headers: Headers, body: string) {
    super(`HTTP ${status}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** The first `maxChars` characters (and the rest of their chunk) of a body. */
export async function readText(response: Response, maxChars: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length >= maxChars) break;
  }
  return text;
}
