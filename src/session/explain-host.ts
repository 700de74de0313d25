import type { Decision } from "../core/effects.ts";
import { GloveboxError } from "../core/errors.ts";
import { decideConnection, decideRequest, type Treatment } from "../policy/decide-connection.ts";
import { canonicalHost } from "../policy/host-name.ts";
import type { Policy } from "../policy/policy.ts";

/** What a policy says of a host; `treatment` where a connection is not denied, `enableWith` where it is not allowed. */
export type HostExplanation = { decision: string; rule: string; treatment: Treatment | null; enableWith?: string };

/**
 * `value` is `HOST[:PORT]`, or one request: `GET HOST[:PORT]/PATH`, also as a URL, of which `http://` means port 80.
 * @throws GloveboxError `USAGE`.
 */
export function explainHost(value: string, policy: Policy): HostExplanation {
  const { name, port, scheme, request } = partsOf(value);
  const found = name.startsWith("*.") ? { problem: "is a pattern; expected one host" } : canonicalHost(name);
  if ("problem" in found) throw new GloveboxError("USAGE", `\`${value}\` ${wordsFor(value, found.problem)}`);
  const place = { host: found.host, port };
  const connection = decideConnection(policy, place);
  if (connection.type === "deny") return explained(connection, null);
  const { treatment } = connection;
  const tls = tlsOf(scheme, treatment);
  // Where TLS passes sealed no rule limits requests: what the connection may, each request may.
  const isJudged = request && treatment.tls !== "sealed";
  const decision = isJudged ? decideRequest(policy, { ...place, request, ...(tls && { tls }) }) : connection;
  return explained(decision, treatment);
}

function explained(decision: Decision, treatment: Treatment | null): HostExplanation {
  const { type, rule } = decision;
  return { decision: type, rule, treatment, ...(type !== "allow" && { enableWith: decision.enableWith }) };
}

/** How a request of `scheme` arrives: TLS that a rule does not let through is opened by nobody. */
function tlsOf(scheme: Parts["scheme"], { tls }: Treatment): "sealed" | "opened" | undefined {
  if (scheme === "http") return undefined;
  if (tls === "opened") return "opened";
  return scheme === "https" ? "sealed" : undefined;
}

type Parts = {
  name: string;
  port: number;
  scheme: "http" | "https" | undefined;
  request?: { method: string; path: string };
};

function partsOf(value: string): Parts {
  const [, method, start, rest = value, path = "/"] = REQUEST.exec(value) ?? [];
  const scheme = start === "http" || start === "https" ? start : undefined;
  const [, name = rest, digits] = /^([^:]*):(\d{1,5})$/.exec(rest) ?? [];
  const port = Number(digits ?? (scheme === "http" ? 80 : 443));
  if (port < 1 || port > 65_535) {
    throw new GloveboxError("USAGE", `\`${value}\` has a port that is none; expected 1 to 65535`);
  }
  return { name, port, scheme, ...(method && { request: { method, path } }) };
}

/** A method, a URL with or without its beginning; a query is compared with no rule. */
const REQUEST = /^([A-Z]+) (?:(https?):\/\/)?([^/?#\s]+)(\/[^?#\s]*)?(?:[?#]\S*)?$/;

function wordsFor(value: string, problem: string): string {
  return value.includes("://") ? "is a URL; expected `HOST`, `HOST:PORT` or, of one request, `GET URL`" : problem;
}

/** How the bytes of an admitted connection are looked at, as a sentence without its end. */
export function treatmentWords({ protocol, tls }: Treatment): string {
  if (protocol === "tcp") return "any bytes pass unseen";
  if (protocol === "ssh") return "SSH passes";
  return {
    sealed: "TLS for this name passes unopened, and plain HTTP",
    opened: "TLS for this name is opened and each request judged, plain HTTP as well",
    refused: "each request of plain HTTP is judged, TLS refused",
  }[tls];
}
