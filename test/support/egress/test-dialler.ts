import { type Dialler, type Endpoint, systemDialler } from "../../../src/egress/dialler.ts";

/** The addresses of a name: the same each time, or those of the first question, the second, and so on. */
type Answers = Readonly<Record<string, readonly string[] | (() => readonly string[] | Promise<readonly string[]>)>>;

/**
 * A world of names and addresses, of which every connection ends at a real server on loopback. Counts what would have
 * been packets.
 */
export class TestDialler implements Dialler {
  readonly questions: string[] = [];
  readonly dials: string[] = [];
  readonly #answers: Answers;
  readonly #ports: Readonly<Record<string, number>>;
  readonly #system = systemDialler();

  /** `ports`: where `address:port`, or any port of an `address`, really is; others refuse connections. */
  constructor(answers: Answers, ports: Readonly<Record<string, number>> = {}) {
    this.#answers = answers;
    this.#ports = ports;
  }

  async resolve(name: string): Promise<readonly string[]> {
    this.questions.push(name);
    const answer = this.#answers[name];
    if (answer) return typeof answer === "function" ? await answer() : answer;
    throw Object.assign(new Error(`queryA ENOTFOUND ${name}`), { code: "ENOTFOUND" });
  }

  connect({ address, port }: Endpoint, signal: AbortSignal) {
    const place = `${address}:${port}`;
    this.dials.push(place);
    const real = this.#ports[place] ?? this.#ports[address];
    if (real === 0) return new Promise<never>((_resolve, reject) => signal.addEventListener("abort", reject));
    return this.#system.connect({ address: "127.0.0.1", port: real ?? 1 }, signal);
  }
}
