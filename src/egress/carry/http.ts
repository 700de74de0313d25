import type { Duplex } from "node:stream";
import type { Carriage } from "../carriage.ts";
import { EgressRefusal } from "../refusal.ts";
import { answerRefusal } from "./answer.ts";
import { Exchange } from "./exchange.ts";
import { HeadWatch } from "./head-watch.ts";
import { join } from "./join.ts";
import type { CarryOptions } from "./options.ts";
import { peek } from "./peek.ts";
import type { Looking } from "./request-head.ts";
import type { Scheme } from "./request-path.ts";
import { asRefusal, refuseSilence } from "./words.ts";

export type HttpCarriage = {
  carriage: Carriage;
  /** What speaks HTTP to us: the inside, or what is inside its TLS. */
  client: Duplex;
  scheme: Scheme;
  /** Dials, and opens TLS where the client had it. @throws EgressRefusal */
  connect: () => Promise<Duplex>;
  options: CarryOptions;
};

/** HTTP/1, each request judged before a byte of it passes, the first before anything is dialled. @throws EgressRefusal */
export async function carryHttp(http: HttpCarriage): Promise<void> {
  const { carriage, client, options } = http;
  const { judge, count, signal } = carriage;
  const exchange = new Exchange({ client, judge, count, looking: lookingAt(http) });
  const firstBytes = { ms: options.firstBytesMs, late: () => refuseSilence(carriage) };
  const look = (piece: Buffer) => exchange.probe(piece);
  try {
    const isAdmitted = await peek(client, { look, firstBytes, answerMs: options.headMs, signal });
    if (isAdmitted) await exchangeWith(await http.connect(), { exchange, http });
    else carriage.refused?.(new EgressRefusal("the program sent no request"));
  } catch (error) {
    const refusal = asRefusal(error);
    const method = refusal.denial && exchange.answerable;
    // A program that has read why may be gone, and its call over, before the connection is.
    if (method) carriage.refused?.(refusal);
    if (method) await answerRefusal(client, { refusal, method, lingerMs: options.lingerMs, signal });
    throw refusal;
  }
}

function lookingAt({ carriage, scheme }: HttpCarriage): Looking {
  const { name, port, treatment, strictPaths, ruleAs } = carriage;
  // A rule that lets TLS pass unseen has neither methods nor paths.
  const seesMethods = treatment.tls !== "sealed";
  return {
    name,
    port,
    ...(ruleAs && { ruleAs }),
    scheme,
    seesMethods,
    seesPaths: seesMethods && (strictPaths ?? true),
  };
}

type Exchanging = { exchange: Exchange; http: HttpCarriage };

async function exchangeWith(server: Duplex, { exchange, http }: Exchanging): Promise<void> {
  const { client, options, carriage } = http;
  const watch = new HeadWatch(exchange, { client, ms: options.headMs, signal: carriage.signal });
  server.allowHalfOpen = true;
  exchange.begin(server);
  try {
    await join({
      inside: client,
      outside: server,
      up: (piece) => {
        exchange.up(piece);
        watch.look();
      },
      down: (piece) => exchange.down(piece),
      mayRead: () => exchange.mayRead,
      isOver: () => exchange.isOver,
      lingerMs: options.lingerMs,
      signal: watch.signal,
    });
  } finally {
    watch.stop();
  }
}
