import type { Duplex } from "node:stream";
import { connect, createServer, rootCertificates, type TLSSocket } from "node:tls";
import type { Carriage } from "../carriage.ts";
import { EgressRefusal } from "../refusal.ts";
import type { ClientHello } from "./client-hello.ts";
import { carryHttp } from "./http.ts";
import { reset } from "./join.ts";
import type { CarryOptions } from "./options.ts";
import { turnOfLoop } from "./turns.ts";
import { asRefusal, refuseHello, shown } from "./words.ts";

/** The one protocol whose requests are looked at. */
const PROTOCOLS = ["http/1.1"];

/** TLS that ends here, so that requests are seen, and begins anew to the real server. @throws EgressRefusal */
export async function carryOpened(carriage: Carriage, hello: ClientHello, options: CarryOptions): Promise<void> {
  const { protocols } = hello;
  if (protocols.length > 0 && !protocols.includes("http/1.1")) {
    const offered = shown(protocols.join(", "));
    throw refuseHello(
      `the program offers \`${offered}\` alone, and requests are seen in http/1.1 only`,
      `let the program offer http/1.1, or take \`inspect\` out of the rule for \`${carriage.name}\``,
    );
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
  // Many at once would leave the loop no time for anything else.
  await turnOfLoop();
  if (inside.destroyed) throw new EgressRefusal("the program gave it up");
  // Until the handshake is over, an end is one for both sides: nobody is left to answer.
  inside.allowHalfOpen = false;
  const client = await untilAborted<TLSSocket>(signal, (resolve, reject) => {
    server.on("secureConnection", resolve);
    server.on("tlsClientError", (error) => {
      const what = `the program did not accept the session's certificate for \`${name}\``;
      reject(new EgressRefusal(`${what}: ${wordsOf(error)}`));
    });
    server.emit("connection", inside);
  });
  client.on("error", () => undefined);
  inside.allowHalfOpen = true;
  client.allowHalfOpen = true;
  return client;
}

/** @throws EgressRefusal when the server cannot prove that it is the admitted name. */
async function encrypt({ dial, name, signal }: Carriage, { authorities, headMs }: CarryOptions): Promise<Duplex> {
  const socket = await dial();
  const ca = authorities.length > 0 ? { ca: [...rootCertificates, ...authorities] } : {};
  const server = connect({ socket, servername: name, ALPNProtocols: PROTOCOLS, ...ca });
  const timer = setTimeout(() => server.destroy(new Error(`no answer within ${headMs / 1000} s`)), headMs);
  try {
    return await untilAborted<Duplex>(signal, (resolve, reject) => {
      server.on("secureConnect", () => resolve(server));
      server.on("error", (error) => {
        reject(new EgressRefusal(`TLS to \`${name}\` could not be set up: ${wordsOf(error)}`));
      });
    });
  } catch (error) {
    server.destroy();
    reset(socket, undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

type Wait<T> = (resolve: (value: T) => void, reject: (refusal: EgressRefusal) => void) => void;

/** As `AbortSignal.any` would, which keeps something of every connection for as long as the session's signal lives. */
async function untilAborted<T>(signal: AbortSignal, wait: Wait<T>): Promise<T> {
  let onAbort = () => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      onAbort = () => reject(asRefusal(signal.reason));
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort);
      wait(resolve, reject);
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function wordsOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return shown(code ?? message, 80);
}
