import type { Carriage } from "../carriage.ts";
import { EgressRefusal } from "../refusal.ts";
import type { ClientHello } from "./client-hello.ts";
import { HelloReader } from "./hello-reader.ts";
import { carryOpened } from "./opened.ts";
import type { CarryOptions } from "./options.ts";
import { peek } from "./peek.ts";
import { carryRaw } from "./raw.ts";
import { refuseProtocol, shown } from "./words.ts";

/** TLS, once its hello has been read and is for the admitted name. @throws EgressRefusal */
export async function carryTls(carriage: Carriage, options: CarryOptions): Promise<void> {
  const reader = new HelloReader();
  const { inside, signal, treatment } = carriage;
  const hello = await peek(inside, { look: (piece) => reader.push(piece), answerMs: options.headMs, signal });
  if (!hello) return;
  requireName(hello, carriage);
  switch (treatment.tls) {
    case "sealed":
      return await carryRaw(carriage, options);
    case "refused":
      throw needsInspection(carriage);
    case "opened":
      return await carryOpened(carriage, hello, options);
  }
}

function requireName({ serverName, hasEncrypted }: ClientHello, carriage: Carriage): void {
  const { name } = carriage;
  if (serverName === undefined) {
    throw refuseProtocol(carriage, `the TLS hello names no host (SNI); expected \`${name}\``);
  }
  if (serverName.toLowerCase() === name) return;
  const how = hasEncrypted ? "the TLS hello is encrypted (ECH), its outer name" : "the TLS hello is for another host:";
  throw refuseProtocol(carriage, `${how} \`${shown(serverName)}\`; expected \`${name}\``);
}

function needsInspection({ name, port }: Carriage): EgressRefusal {
  return new EgressRefusal(`the rule for \`${name}\` has methods or paths, which cannot be seen inside TLS`, {
    rule: "built-in/network.protocol",
    enable_with: `add \`inspect: true\` to the rule for \`${name}\`, port ${port}, in \`network.allow\``,
  });
}
