import type { Decision } from "../../core/effects.ts";
import { visibleLine } from "../../core/visible.ts";
import type { Carriage } from "../carriage.ts";
import { EgressRefusal } from "../refusal.ts";

/** Whom a refusal speaks of. */
export type Named = Pick<Carriage, "name" | "port">;

/** The first bytes are not what the rule lets through unseen: another protocol could be admitted by a person. */
export function refuseProtocol({ name, port }: Named, what: string): EgressRefusal {
  return new EgressRefusal(what, {
    rule: "built-in/network.protocol",
    enable_with: `make it \`{ host: ${name}, ports: [${port}], protocol: tcp }\` in \`network.allow\``,
  });
}

/** Nothing was said at all. */
export function refuseSilence(named: Named): EgressRefusal {
  const what = "the program waits for the server to speak first, so nothing says what the connection is";
  return refuseProtocol(named, what);
}

/** What no rule admits on a connection that is looked at, because two programs may read it in two ways. */
export function refuseAmbiguous(what: string): EgressRefusal {
  return new EgressRefusal(what, {
    rule: "built-in/network.requests",
    enable_with: "nothing admits this; the program must send it in the usual form",
  });
}

/** Any error as one that the gate records. The first is kept as its cause. */
export function asRefusal(error: unknown): EgressRefusal {
  if (error instanceof EgressRefusal) return error;
  const refusal = new EgressRefusal(error instanceof Error ? visibleLine(error.message) : "it was ended");
  refusal.cause = error;
  return refusal;
}

/** What a program sent, harmless in a line and no longer than `max` characters. */
export function shown(bytes: Buffer | string, max = 40): string {
  const text = typeof bytes === "string" ? bytes : bytes.toString("latin1", 0, max + 1);
  return visibleLine(text.slice(0, max)).replaceAll("`", "'") + (text.length > max ? "…" : "");
}

type Request = { method: string; path: string };
type Refused = { looking: Named & { scheme: "http" | "https" }; decision: Exclude<Decision, { type: "allow" }> };

/** One request that the policy does not allow. */
export function refuseRequest({ method, path }: Request, { looking, decision }: Refused): EgressRefusal {
  const { scheme, name, port } = looking;
  const usual = scheme === "http" ? 80 : 443;
  const request = `${method} ${scheme}://${name}${port === usual ? "" : `:${port}`}${path}`;
  const why = decision.type === "ask" ? "waits for a person, who is not asked for single requests" : "is not admitted";
  return new EgressRefusal(`\`${shown(request, 200)}\` ${why}`, {
    rule: decision.rule,
    enable_with: decision.enableWith,
  });
}
