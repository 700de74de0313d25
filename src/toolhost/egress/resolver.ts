import type { By, Client } from "./attribution.ts";
import { type Answer, buildReply, encodeName, parseQuery, type Question, RCODE, TYPE } from "./dns-message.ts";
import type { Names, Verdict } from "./names.ts";
import { SELF_NAMES } from "./places.ts";

/**
 * What programs ask for on their way to a connection. All else (TXT, MX, SRV, ANY, NULL, CNAME …) is a question of its
 * own, which is told to the model and, since it opens nothing, not to the controller.
 */
const ON_THE_WAY: readonly number[] = [TYPE.A, TYPE.AAAA, TYPE.HTTPS, TYPE.SVCB];
/** What programs ask for before each host, and can do without: apt for services, gRPC for its settings. */
const CUSTOMARY: readonly { type: number; name: RegExp }[] = [
  { type: TYPE.SRV, name: /^_https?\._tcp\./ },
  { type: TYPE.TXT, name: /^_grpc_config\./ },
];
/** A name is asked again after that: a tool host that was started again listens only for what it is asked. */
const TTL_SECONDS = 1;
/** Questions that wait for an answer, each with its packet. */
const MAX_WAITING = 1024;

const NO_DATA: Answer = { code: RCODE.noError };
const NO_NAME: Answer = { code: RCODE.nameError };
const FAILED: Answer = { code: RCODE.serverFailure };

export type ResolverParts = {
  names: Pick<Names, "lookup" | "isAdmitted" | "nameOf">;
  byOf: (client: Client) => By;
  /** Whether `::1` is there. */
  hasIpv6: boolean;
  /** Told of each question for other than addresses. */
  onOther: (name: string) => void;
};

/** Answers questions of DNS, from what is known here and what the controller says. Forwards none. */
export class Resolver {
  readonly #parts: ResolverParts;
  #waiting = 0;

  constructor(parts: ResolverParts) {
    this.#parts = parts;
  }

  /** The reply to a packet; undefined for none. Never rejects. */
  async reply(packet: Buffer, client: Client): Promise<Buffer | undefined> {
    const parsed = parseQuery(packet);
    if (parsed.type === "drop") return undefined;
    if (parsed.type === "reply") return parsed.reply;
    if (this.#waiting >= MAX_WAITING) return undefined;
    this.#waiting++;
    try {
      return buildReply(parsed.question.echo, await this.#answer(parsed.question, client));
    } finally {
      this.#waiting--;
    }
  }

  async #answer(question: Question, client: Client): Promise<Answer> {
    const { name, type } = question;
    if (isOwn(name)) return this.#own(type);
    if (type === TYPE.PTR) return this.#pointer(name);
    if (!ON_THE_WAY.includes(type)) return this.#other(question);
    return answerOf(await this.#parts.names.lookup(name, () => this.#parts.byOf(client)), type);
  }

  #own(type: number): Answer {
    if (type === TYPE.A) return record(TYPE.A, ipv4Bytes("127.0.0.1"));
    if (type === TYPE.AAAA && this.#parts.hasIpv6) return record(TYPE.AAAA, Buffer.from([...Array(15).fill(0), 1]));
    return NO_DATA;
  }

  #pointer(name: string): Answer {
    const address = reversed(name);
    const found = address === undefined ? undefined : (OWN_POINTERS[address] ?? this.#parts.names.nameOf(address));
    const data = found === undefined ? undefined : encodeName(found);
    return data ? record(TYPE.PTR, data) : NO_NAME;
  }

  #other({ name, type }: Question): Answer {
    if (!CUSTOMARY.some((one) => one.type === type && one.name.test(name))) this.#parts.onOther(name);
    return this.#parts.names.isAdmitted(name) ? NO_DATA : NO_NAME;
  }
}

function isOwn(name: string): boolean {
  return SELF_NAMES.includes(name) || name.endsWith(".localhost");
}

function answerOf(verdict: Verdict, type: number): Answer {
  if (verdict.type === "failed") return FAILED;
  if (verdict.type === "refused") return NO_NAME;
  return type === TYPE.A ? record(TYPE.A, ipv4Bytes(verdict.address)) : NO_DATA;
}

function record(type: number, data: Buffer): Answer {
  return { code: RCODE.noError, record: { type, ttlSeconds: TTL_SECONDS, data } };
}

function ipv4Bytes(address: string): Buffer {
  return Buffer.from(address.split(".").map(Number));
}

const LOOPBACK6 = `${"0.".repeat(31)}1`;
const OWN_POINTERS: Readonly<Record<string, string>> = { "127.0.0.1": "localhost", [LOOPBACK6]: "localhost" };

/** The address a name below `in-addr.arpa` or `ip6.arpa` stands for, the latter as its digits. */
function reversed(name: string): string | undefined {
  const digits = /^(.*)\.(?:in-addr|ip6)\.arpa$/.exec(name)?.[1];
  return digits?.split(".").toReversed().join(".");
}
