import type { Carriage } from "../carriage.ts";
import { EgressRefusal } from "../refusal.ts";
import type { ClientHello } from "./client-hello.ts";
import { HelloReader } from "./hello-reader.ts";
import { carryOpened } from "./opened.ts";
import type { CarryOptions } from "./options.ts";
import { peek } from "./peek.ts";
import { carryRaw } from "./raw.ts";
import { refuseHello, shown } from "./words.ts";

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

function requireName({ serverName, hasEncrypted }: ClientHello, { name }: Carriage): void {
  if (serverName === undefined) {
    const what = `the TLS hello names no host (SNI); expected \`${name}\``;
    throw refuseHello(what, `let the program name \`${name}\` in its TLS hello`);
  }
  if (serverName.toLowerCase() === name) return;
  const other = `\`${shown(serverName, 260)}\``;
  const how = hasEncrypted ? "the TLS hello is encrypted (ECH), its outer name" : "the TLS hello is for another host:";
  throw refuseHello(
    `${how} ${other}; expected \`${name}\``,
    hasEncrypted
      ? "let the program do without ECH"
      : `only a rule for ${other} would admit it, at an address of its own`,
  );
}

function needsInspection({ name, port }: Carriage): EgressRefusal {
  return new EgressRefusal(`the rule for \`${name}\` has methods or paths, which cannot be seen inside TLS`, {
    rule: "built-in/network.protocol",
    enable_with: `add \`inspect: true\` to the rule for \`${name}\`, port ${port}, in \`network.allow\``,
  });
}
