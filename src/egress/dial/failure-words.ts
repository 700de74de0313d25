import { messageOf, systemCode } from "../../core/errors.ts";
import { visibleLine } from "../../core/visible.ts";

/** Why no connection came about, in words that fit after a host. */
export function failureWords(error: unknown): string {
  const code = systemCode(error);
  return code === undefined ? visibleLine(messageOf(error)) : (WORDS[code] ?? `it could not be reached (${code})`);
}

const WORDS: Record<string, string> = {
  ECONNREFUSED: "nothing listens there (ECONNREFUSED)",
  ECONNRESET: "it reset the connection (ECONNRESET)",
  ETIMEDOUT: "it does not answer (ETIMEDOUT)",
  EHOSTUNREACH: "this machine has no way to it (EHOSTUNREACH)",
  ENETUNREACH: "this machine has no way to it (ENETUNREACH)",
  EMFILE: "this machine has too many files open (EMFILE)",
};
