import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";

export type Question = { name: string; type: string };
/** Addresses of both families, an error of the protocol, or no answer at all. */
export type DnsAnswer = readonly string[] | "nxdomain" | "servfail" | "silence";
/** `time` counts the questions of one type for one name, from 0. */
export type DnsAnswers = (question: Question, time: number) => DnsAnswer;

const TYPES: Record<number, string> = { 1: "A", 28: "AAAA", 16: "TXT", 15: "MX", 12: "PTR", 33: "SRV", 65: "HTTPS" };
const CODES = { nxdomain: 3, servfail: 2 };

/** A name server on UDP that answers what a test says, and notes what it was asked. */
export class DnsServer implements AsyncDisposable {
  readonly questions: Question[] = [];
  readonly #socket: Socket;
  answers: DnsAnswers;

  private constructor(socket: Socket, answers: DnsAnswers) {
    this.#socket = socket;
    this.answers = answers;
    socket.on("message", (message, { port, address }) => {
      const reply = this.#reply(message);
      if (reply) socket.send(reply, port, address);
    });
  }

  static async start(answers: DnsAnswers, { address = "127.0.0.1", port = 0 } = {}): Promise<DnsServer> {
    const socket = createSocket("udp4");
    socket.bind(port, address);
    await once(socket, "listening");
    return new DnsServer(socket, answers);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  #reply(message: Buffer): Buffer | undefined {
    const { question, end } = readQuestion(message);
    const time = this.questions.filter(({ name, type }) => name === question.name && type === question.type).length;
    this.questions.push(question);
    const answer = this.answers(question, time);
    if (answer === "silence") return undefined;
    const code = typeof answer === "string" ? CODES[answer] : 0;
    const records = typeof answer === "string" ? [] : recordsOf(question.type, answer);
    const header = Buffer.alloc(12);
    message.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    return Buffer.concat([header, message.subarray(12, end), ...records]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }
}

function readQuestion(message: Buffer): { question: Question; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = message.readUInt16BE(at + 1);
  return { question: { name: labels.join(".").toLowerCase(), type: TYPES[type] ?? String(type) }, end: at + 5 };
}

function recordsOf(type: string, addresses: readonly string[]): Buffer[] {
  const isMine = (address: string) => (type === "A" ? isIPv4(address) : type === "AAAA" && !isIPv4(address));
  return addresses.filter(isMine).map((address) => {
    const data = bytesOf(address);
    const head = Buffer.from([0xc0, 12, 0, type === "A" ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]);
    return Buffer.concat([head, data]);
  });
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail] = address.split("::");
  const groups = (text: string) => text.split(":").filter(Boolean);
  const [first, last] = [groups(head), groups(tail ?? "")];
  const middle = tail === undefined ? [] : Array<string>(8 - first.length - last.length).fill("0");
  return Buffer.from([...first, ...middle, ...last].map((group) => group.padStart(4, "0")).join(""), "hex");
}
