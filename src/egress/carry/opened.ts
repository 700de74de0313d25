import { once } from "node:events";
import type { Duplex } from "node:stream";
import { connect, createServer, rootCertificates, type TLSSocket } from "node:tls";
import type { Carriage } from "../carriage.ts";
import { EgressRefusal } from "../refusal.ts";
import type { ClientHello } from "./client-hello.ts";
import { carryHttp } from "./http.ts";
import { reset } from "./join.ts";
import type { CarryOptions } from "./options.ts";
import { refuseProtocol, shown } from "./words.ts";

/** The one protocol whose requests are looked at. */
const PROTOCOLS = ["http/1.1"];

/** TLS that ends here, so that requests are seen, and begins anew to the real server. @throws EgressRefusal */
export async function carryOpened(carriage: Carriage, hello: ClientHello, options: CarryOptions): Promise<void> {
  const { protocols } = hello;
  if (protocols.length > 0 && !protocols.includes("http/1.1")) {
    const offered = shown(protocols.join(", "));
    throw refuseProtocol(carriage, `the program offers \`${offered}\` alone, and requests are seen in http/1.1 only`);
  }
  const client = await accept(carriage, options);
  try {
    await carryHttp({ carriage, client, scheme: "https", options, connect: () => encrypt(carriage, options) });
    client.end();
  } catch (error) {
    client.destroy();
    throw error;
  }
}

/** @throws EgressRefusal, most often because the program does not trust the authority. */
async function accept({ inside, name, certify, signal }: Carriage, { headMs }: CarryOptions): Promise<TLSSocket> {
  const server = createServer({ ...(await certify(name)), ALPNProtocols: PROTOCOLS, handshakeTimeout: headMs });
  const accepted = new AbortController();
  const stopped = AbortSignal.any([signal, accepted.signal]);
  const failed = once(server, "tlsClientError", { signal: stopped }).then(([error]) => {
    throw new EgressRefusal(`the program did not accept the session's certificate for \`${name}\`: ${wordsOf(error)}`);
  });
  const secured = once(server, "secureConnection", { signal: stopped });
  // Until the handshake is over, an end is one for both sides: nobody is left to answer.
  inside.allowHalfOpen = false;
  server.emit("connection", inside);
  try {
    const [client] = (await Promise.race([secured, failed])) as [TLSSocket];
    client.on("error", () => undefined);
    inside.allowHalfOpen = true;
    client.allowHalfOpen = true;
    return client;
  } finally {
    failed.catch(() => undefined);
    secured.catch(() => undefined);
    accepted.abort();
  }
}

/** @throws EgressRefusal when the server cannot prove that it is the admitted name. */
async function encrypt({ dial, name, signal }: Carriage, { authorities }: CarryOptions): Promise<Duplex> {
  const socket = await dial();
  const ca = authorities.length > 0 ? { ca: [...rootCertificates, ...authorities] } : {};
  const server = connect({ socket, servername: name, ALPNProtocols: PROTOCOLS, ...ca });
  server.on("error", () => undefined);
  try {
    await once(server, "secureConnect", { signal });
    return server;
  } catch (error) {
    server.destroy();
    reset(socket, undefined);
    throw new EgressRefusal(`TLS to \`${name}\` could not be set up: ${wordsOf(error)}`);
  }
}

function wordsOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return shown(code ?? message, 80);
}
