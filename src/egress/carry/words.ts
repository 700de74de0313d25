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

/** At most 40 bytes of what a program sent, harmless in a line. */
export function shown(bytes: Buffer | string): string {
  const text = typeof bytes === "string" ? bytes : bytes.toString("latin1", 0, SHOWN + 1);
  return visibleLine(text.slice(0, SHOWN)).replaceAll("`", "'") + (text.length > SHOWN ? "…" : "");
}

const SHOWN = 40;
