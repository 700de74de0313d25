import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { systemCode } from "../../core/errors.ts";
import type { Dialler } from "../dialler.ts";
import { EgressRefusal } from "../refusal.ts";
import type { UpstreamProxy } from "../upstream-proxy.ts";
import { parseIp } from "./ip.ts";
import { dialFirst, inTurns } from "./race.ts";
import { untilAborted } from "./until-aborted.ts";

/** An answer to CONNECT is a line and a few headers; browsers stop at a few times this. */
const MOST_ANSWER_BYTES = 16 * 1024;

type Target = { host: string; port: number };

/**
 * A connection to `target` through the person's proxy, which resolves the name. No text holds anything the proxy or its
 * address said but a status. @throws EgressRefusal (`failed`), or the signal's reason
 */
export async function dialThroughProxy(
  { dialler, proxy }: { dialler: Dialler; proxy: UpstreamProxy },
  target: Target,
  signal: AbortSignal,
): Promise<Duplex> {
  const connection = await reach({ dialler, proxy }, signal);
  try {
    connection.write(requestFor(target, proxy));
    const { status, rest } = await untilAborted(readAnswer(connection), signal);
    if (status < 200 || status > 299) throw new EgressRefusal(wordsOf(status, target));
    if (rest.length > 0) connection.unshift(rest);
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

async function reach(
  { dialler, proxy }: { dialler: Dialler; proxy: UpstreamProxy },
  signal: AbortSignal,
): Promise<Duplex> {
  try {
    const { host, port } = proxy;
    const addresses = parseIp(host) ? [host] : await untilAborted(dialler.resolve(host, signal), signal);
    const candidates = inTurns(addresses).map((address) => ({ address, port }));
    const plain = await dialFirst((to, until) => dialler.connect(to, until), candidates, signal);
    return proxy.secure ? await secured(plain, proxy, signal) : plain;
  } catch (error) {
    signal.throwIfAborted();
    throw new EgressRefusal(`your proxy cannot be reached (${systemCode(error) ?? "no address"})`);
  }
}

async function secured(plain: Duplex, { host, certificates }: UpstreamProxy, signal: AbortSignal): Promise<Duplex> {
  const socket = connectTls({
    socket: plain,
    ...(!parseIp(host) && { servername: host }),
    host,
    ...(certificates !== undefined && { ca: certificates }),
  });
  socket.on("error", () => undefined);
  try {
    await untilAborted(
      new Promise((resolve, reject) => {
        socket.once("secureConnect", () => resolve(undefined));
        socket.once("error", reject);
        socket.once("close", () => reject(new Error("closed")));
      }),
      signal,
    );
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function requestFor({ host, port }: Target, { authorization }: UpstreamProxy): string {
  const login = authorization ? `Proxy-Authorization: ${authorization.reveal()}\r\n` : "";
  return `CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n${login}\r\n`;
}

/**
 * The status, and what came after the head: the first bytes of the far end. By `readable` and not by `data`, so that
 * the connection is handed on as if nobody had read from it.
 */
function readAnswer(connection: Duplex): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let seen = Buffer.alloc(0);
    const settle = (act: () => void): void => {
      connection.off("readable", onReadable).off("error", onEnd).off("end", onEnd).off("close", onEnd);
      act();
    };
    const onEnd = (): void => settle(() => reject(new EgressRefusal("your proxy closed the connection")));
    const onReadable = (): void => {
      const bytes: unknown = connection.read();
      if (!(bytes instanceof Buffer)) return;
      seen = Buffer.concat([seen, bytes]);
      const answer = parseAnswer(seen);
      if (answer === "incomplete") return;
      settle(() => (answer === "none" ? reject(new EgressRefusal(NO_ANSWER)) : resolve(answer)));
    };
    connection.on("readable", onReadable).on("error", onEnd).on("end", onEnd).on("close", onEnd);
  });
}

type Answer = { status: number; rest: Buffer };

function parseAnswer(seen: Buffer): Answer | "incomplete" | "none" {
  const end = seen.indexOf("\r\n\r\n");
  const begins = "HTTP/1.".startsWith(seen.toString("latin1", 0, Math.min(7, seen.length)));
  if (!begins || (end < 0 ? seen.length : end) > MOST_ANSWER_BYTES) return "none";
  if (end < 0) return "incomplete";
  const status = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(seen.toString("latin1", 0, end + 2))?.[1];
  return status === undefined ? "none" : { status: Number(status), rest: seen.subarray(end + 4) };
}

const NO_ANSWER = "your proxy answered with something that is no HTTP answer";

function wordsOf(status: number, { host, port }: Target): string {
  if (status === 407) return "your proxy asks for a user and password (407): put them into its address";
  return `your proxy refused to connect to \`${host}:${port}\` (${status})`;
}
