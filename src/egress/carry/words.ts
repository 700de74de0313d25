import type { Decision } from "../../core/effects.ts";
import { headChars } from "../../core/truncate.ts";
import { visibleLine } from "../../core/visible.ts";
import type { Carriage } from "../carriage.ts";
import { EgressRefusal } from "../refusal.ts";

/** Whom a refusal speaks of, and the rule that could be another. */
export type Named = Pick<Carriage, "name" | "port" | "ruleAs">;

/** The first bytes are not what the rule lets through unseen, and may be the program's usual ones: a rule could. */
export function refuseProtocol({ name, port, ruleAs = plainRuleAs }: Named, what: string): EgressRefusal {
  const rule = ruleAs({ name, port, protocol: "tcp" });
  return new EgressRefusal(what, {
    rule: "built-in/network.protocol",
    enable_with: rule
      ? `make it \`${rule}\` in \`network.allow\`; its bytes are then not looked at`
      : "its rules want to see what is sent: the program must use TLS or HTTP/1.1",
  });
}

/** What the program is meant to do otherwise, since no protocol of a rule would make it right. */
export function refuseHello(what: string, remedy: string): EgressRefusal {
  return new EgressRefusal(what, { rule: "built-in/network.protocol", enable_with: remedy });
}

function plainRuleAs({ name, port, protocol }: Parameters<NonNullable<Carriage["ruleAs"]>>[0]): string {
  return `{ host: ${name}, ports: [${port}], protocol: ${protocol} }`;
}

/** The program left, or let its time pass, without a word. */
export const SENT_NOTHING = "the program sent nothing; if the server speaks first, its rule needs `protocol: tcp`";

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
  return visibleLine(headChars(text, max)).replaceAll("`", "'") + (text.length > max ? "…" : "");
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
