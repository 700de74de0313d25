import type { Carriage } from "../carriage.ts";
import type { CarryOptions } from "./options.ts";
import { peek } from "./peek.ts";
import { carryTls } from "./tls.ts";
import { refuseProtocol, shown } from "./words.ts";

/** What the first bytes of a connection are. */
type Kind = "tls" | "http" | "ssh";

/** Looks at the first bytes before anything is dialled, and treats the connection as what they are. @throws EgressRefusal */
export async function carryAuto(carriage: Carriage, options: CarryOptions): Promise<void> {
  const { inside, signal } = carriage;
  const firstBytes = { ms: options.firstBytesMs, late: () => silent(carriage) };
  const look = (_piece: Buffer, all: Buffer) => kindOf(all, carriage);
  const kind = await peek(inside, { look, firstBytes, answerMs: options.headMs, signal });
  switch (kind) {
    case undefined:
      return;
    case "tls":
      return await carryTls(carriage, options);
    case "http":
    case "ssh":
      throw refuseProtocol(carriage, "not yet");
  }
}

const SSH = "SSH-";
const TOKEN = /^[!#$%&'*+.^_`|~\da-z-]/i;

function kindOf(bytes: Buffer, carriage: Carriage): Kind | undefined {
  if (bytes[0] === 22) return "tls";
  const text = bytes.toString("latin1", 0, SSH.length);
  if (text === SSH) return "ssh";
  if (SSH.startsWith(text)) return undefined;
  if (TOKEN.test(text)) return "http";
  throw refuseProtocol(carriage, `the connection begins with \`${shown(bytes)}\`, which is neither TLS nor HTTP`);
}

function silent(carriage: Carriage) {
  const what = "the program waits for the server to speak first, so nothing says what the connection is";
  return refuseProtocol(carriage, what);
}
