import type { Carriage } from "../carriage.ts";
import { EgressRefusal } from "../refusal.ts";
import { carryHttp } from "./http.ts";
import type { CarryOptions } from "./options.ts";
import { peek } from "./peek.ts";
import { carrySsh } from "./ssh.ts";
import { carryTls } from "./tls.ts";
import { refuseProtocol, refuseSilence, SENT_NOTHING, shown } from "./words.ts";

/** What the first bytes of a connection are. */
type Kind = "tls" | "http" | "ssh";

/** Looks at the first bytes before anything is dialled, and treats the connection as what they are. @throws EgressRefusal */
export async function carryAuto(carriage: Carriage, options: CarryOptions): Promise<void> {
  const { inside, signal } = carriage;
  const firstBytes = { ms: options.firstBytesMs, late: () => refuseSilence(carriage) };
  const look = (_piece: Buffer, all: Buffer) => kindOf(all, carriage);
  const kind = await peek(inside, { look, firstBytes, answerMs: options.headMs, signal });
  switch (kind) {
    case undefined:
      carriage.refused?.(new EgressRefusal(SENT_NOTHING));
      return;
    case "tls":
      return await carryTls(carriage, options);
    case "http":
      return await carryHttp({ carriage, client: inside, scheme: "http", options, connect: carriage.dial });
    case "ssh":
      if (carriage.port !== SSH_PORT) throw refuseSsh(carriage);
      return await carrySsh(carriage, options);
  }
}

const SSH = "SSH-";
const SSH_PORT = 22;
const TOKEN = /^[!#$%&'*+.^_`|~\da-z-]/i;

function kindOf(bytes: Buffer, carriage: Carriage): Kind | undefined {
  if (bytes[0] === 22) return "tls";
  const text = bytes.toString("latin1", 0, SSH.length);
  if (text === SSH) return "ssh";
  if (SSH.startsWith(text)) return undefined;
  if (TOKEN.test(text)) return "http";
  throw refuseProtocol(carriage, `the connection begins with \`${shown(bytes)}\`, which is neither TLS nor HTTP`);
}

function refuseSsh({ name, port, ruleAs }: Carriage): EgressRefusal {
  const rule = ruleAs?.({ name, port, protocol: "ssh" }) ?? `{ host: ${name}, ports: [${port}], protocol: ssh }`;
  return new EgressRefusal(`the program speaks SSH, which a rule admits at port ${SSH_PORT} or by \`protocol: ssh\``, {
    rule: "built-in/network.protocol",
    enable_with: `make it \`${rule}\` in \`network.allow\``,
  });
}
