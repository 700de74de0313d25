import { GloveboxError } from "../core/errors.ts";
import { decideConnection, decideRequest, type Treatment } from "../policy/decide-connection.ts";
import { canonicalHost } from "../policy/host-name.ts";
import type { Policy } from "../policy/policy.ts";

/** What a policy says of a host; `treatment` where a connection is not denied. */
export type HostExplanation = { decision: string; rule: string; treatment: Treatment | null };

/** `value` is `HOST[:PORT]`, or one request: `GET HOST[:PORT]/PATH`. @throws GloveboxError `USAGE`. */
export function explainHost(value: string, policy: Policy): HostExplanation {
  const { name, port, request } = partsOf(value);
  const found = name.startsWith("*.") ? { problem: "is a pattern; expected one host" } : canonicalHost(name);
  if ("problem" in found) throw new GloveboxError("USAGE", `\`${value}\` ${wordsFor(value, found.problem)}`);
  const place = { host: found.host, port };
  const connection = decideConnection(policy, place);
  if (connection.type === "deny") return { decision: "deny", rule: connection.rule, treatment: null };
  const { treatment } = connection;
  // Where TLS passes sealed no rule limits requests: what the connection may, each request may.
  const { type, rule } =
    request && treatment.tls !== "sealed"
      ? decideRequest(policy, { ...place, request, ...(treatment.tls === "opened" && { tls: "opened" }) })
      : connection;
  return { decision: type, rule, treatment };
}

type Parts = { name: string; port: number; request?: { method: string; path: string } };

function partsOf(value: string): Parts {
  const [, method, rest = value, path] = /^([A-Z]+) ([^/\s]+)(\/[^?#\s]*)$/.exec(value) ?? [];
  const [, name = rest, digits] = /^([^:]*):(\d{1,5})$/.exec(rest) ?? [];
  const port = Number(digits ?? 443);
  if (port < 1 || port > 65_535) {
    throw new GloveboxError("USAGE", `\`${value}\` has a port that is none; expected 1 to 65535`);
  }
  return { name, port, ...(method && path && { request: { method, path } }) };
}

function wordsFor(value: string, problem: string): string {
  return value.includes("://") ? "is a URL; expected `HOST`, `HOST:PORT` or `GET HOST/PATH`" : problem;
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
