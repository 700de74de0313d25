import { messageOf, systemCode } from "../core/errors.ts";
import { type Endpoint, ModelFailure } from "./failure.ts";
import { BASE_URL_HINT } from "./http-failure.ts";

/** What reaching the server failed at. `answered`: this server has answered before. */
type Circumstances = { endpoint: Endpoint; answered: boolean; partialChars: number };

/** The failure that a thrown error of `fetch` or of reading the answer means. */
export function networkFailure(thrown: unknown, { endpoint, answered, partialChars }: Circumstances): ModelFailure {
  const code = deepestCode(thrown) ?? "";
  // A wrong address stays wrong; one that has worked is a network that will come back.
  const retry = answered ? ({ type: "back_off" } as const) : ({ type: "never" } as const);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    const again = code === "EAI_AGAIN" ? ({ type: "back_off" } as const) : retry;
    return unreachable(
      `The name of \`${endpoint.url}\` cannot be resolved`,
      again,
      "Check the base URL and the network",
    );
  }
  if (code === "ECONNREFUSED") {
    return unreachable(`Nothing listens at \`${endpoint.url}\``, retry, "Start the server, or correct the base URL");
  }
  if (isTls(code)) {
    return unreachable(
      `The TLS certificate or handshake of \`${endpoint.url}\` was not accepted (${code})`,
      { type: "never" },
      "Check `https` or `http` in the base URL; an own authority goes in `NODE_EXTRA_CA_CERTS`",
    );
  }
  if (code.startsWith("HPE_")) {
    const sentence = `\`${endpoint.url}\` does not speak HTTP (${code})`;
    return new ModelFailure("MODEL_PROTOCOL", sentence, { hint: BASE_URL_HINT });
  }
  if (partialChars > 0) return brokenOff(endpoint, partialChars, code || "connection closed");
  return unreachable(
    `The connection to \`${endpoint.url}\` failed: ${reason(thrown, code, endpoint)}`,
    adviceFor(code),
  );
}

/** The answer stopped before its end was announced. */
export function brokenOff(endpoint: Endpoint, partialChars: number, why: string): ModelFailure {
  const soFar = partialChars > 0 ? `after ${partialChars} characters` : "before it said anything";
  const sentence = `The answer of \`${endpoint.provider}\` broke off ${soFar} (${why})`;
  return new ModelFailure("MODEL_UNREACHABLE", sentence, { retry: { type: "back_off" } });
}

export function idleFailure(endpoint: Endpoint, idleMs: number): ModelFailure {
  const sentence = `\`${endpoint.provider}\` sent nothing for ${idleMs / 1000} s`;
  return new ModelFailure("MODEL_UNREACHABLE", sentence, { retry: { type: "back_off" } });
}

function unreachable(sentence: string, retry: ModelFailure["retry"], hint?: string): ModelFailure {
  return new ModelFailure("MODEL_UNREACHABLE", sentence, { retry, hint });
}

const TRANSIENT = /^(ECONN(RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOST(UNREACH|DOWN)|ENET(UNREACH|DOWN)|UND_ERR_.*)$/;

function adviceFor(code: string): ModelFailure["retry"] {
  return TRANSIENT.test(code) ? { type: "back_off" } : { type: "never" };
}

function isTls(code: string): boolean {
  return /^(CERT_|ERR_TLS_|ERR_SSL_|EPROTO$|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/.test(code);
}

function reason(thrown: unknown, code: string, endpoint: Endpoint): string {
  let deepest = thrown;
  for (let depth = 0; depth < 10 && deepest instanceof Error && deepest.cause !== undefined; depth++) {
    deepest = deepest.cause;
  }
  return code || endpoint.mask(messageOf(deepest));
}

function deepestCode(thrown: unknown): string | undefined {
  let code: string | undefined;
  let error = thrown;
  // Happy Eyeballs wraps the errors of all addresses in an AggregateError, whose own code is the first's.
  for (let depth = 0; depth < 10 && error instanceof Error; depth++) {
    code = systemCode(error) ?? code;
    error = error.cause;
  }
  return code;
}
