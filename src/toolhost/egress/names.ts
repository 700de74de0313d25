import type { AdmittedName } from "../../core/outlet.ts";
import { headChars } from "../../core/truncate.ts";
import type { ToController, ToToolHost } from "../../protocol/messages.ts";
import type { By } from "./attribution.ts";

/** Names the controller is asked about at once; a flood beyond that is turned away. */
const MAX_ASKED = 64;
/** Names the controller is asked about in a second, and at once before: programs ask for tens, floods for thousands. */
const ASKED_A_SECOND = 200;
const ASKED_AT_ONCE = 600;
/** Names that get an address in a session. */
const MAX_NAMES = 512;
/** Nobody waits for a person here, so a controller that takes longer is not there. */
const ANSWER_WITHIN_MS = 10_000;
/** The longest name that the protocol has; a longer one is no host name either when it is cut. */
const MAX_NAME_CHARS = 260;

export type Verdict = { type: "admitted"; address: string } | { type: "refused" } | { type: "failed" };

export type NamesParts = {
  send: (message: Extract<ToController, { type: "name" }>) => void;
  /** Listens for the name, so that it can be connected to from now on; resolves with whether that is so. */
  listen: (name: string, admitted: AdmittedName) => Promise<boolean>;
};

/**
 * Which names have an address here. Only the controller says so: once for a name that it admits, which stays so, and each
 * time for another one, so that it can be told whose call asked.
 */
export class Names {
  readonly #parts: NamesParts;
  readonly #admitted = new Map<string, string>();
  readonly #byAddress = new Map<string, string>();
  readonly #asked = new Map<string, Promise<Verdict>>();
  readonly #answers = new Map<number, (admitted: AdmittedName | undefined) => void>();
  #lastId = 0;
  #left = ASKED_AT_ONCE;
  #countedAt = performance.now();

  constructor(parts: NamesParts) {
    this.#parts = parts;
  }

  /** Whether the name was given an address before. */
  isAdmitted(name: string): boolean {
    return this.#admitted.has(name);
  }

  /** The name that an address stands for. */
  nameOf(address: string): string | undefined {
    return this.#byAddress.get(address);
  }

  /** Questions for one name share an answer while it is awaited. Never rejects. */
  lookup(name: string, by: () => By): Promise<Verdict> {
    const address = this.#admitted.get(name);
    if (address !== undefined) return Promise.resolve({ type: "admitted", address });
    const asked = this.#asked.get(name);
    if (asked !== undefined) return asked;
    if (this.#asked.size >= MAX_ASKED || !this.#mayAsk()) return Promise.resolve({ type: "failed" });
    const verdict = this.#ask(name, by())
      .catch((): Verdict => ({ type: "failed" }))
      .finally(() => this.#asked.delete(name));
    this.#asked.set(name, verdict);
    return verdict;
  }

  /** The controller's answer; one that nobody waits for any more is dropped. */
  settle({ id, admitted }: Extract<ToToolHost, { type: "named" }>): void {
    this.#answers.get(id)?.(admitted);
  }

  #mayAsk(): boolean {
    const now = performance.now();
    this.#left = Math.min(ASKED_AT_ONCE, this.#left + ((now - this.#countedAt) / 1000) * ASKED_A_SECOND);
    this.#countedAt = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  async #ask(name: string, by: By): Promise<Verdict> {
    this.#lastId = (this.#lastId % 0x7fffffff) + 1;
    const id = this.#lastId;
    let timer: NodeJS.Timeout | undefined;
    try {
      const admitted = await new Promise<AdmittedName | undefined>((resolve, reject) => {
        this.#answers.set(id, resolve);
        timer = setTimeout(() => reject(new Error("no answer")), ANSWER_WITHIN_MS);
        this.#parts.send({ type: "name", id, name: headChars(name, MAX_NAME_CHARS), ...by });
      });
      return admitted ? await this.#admit(name, admitted) : { type: "refused" };
    } finally {
      clearTimeout(timer);
      this.#answers.delete(id);
    }
  }

  async #admit(name: string, admitted: AdmittedName): Promise<Verdict> {
    const { address } = admitted;
    if (name.length > MAX_NAME_CHARS) return { type: "refused" };
    if (!this.#admitted.has(name) && this.#admitted.size >= MAX_NAMES) return { type: "failed" };
    // An address without the listeners would lead to whatever a command has put there.
    if (!(await this.#parts.listen(name, admitted))) return { type: "refused" };
    this.#admitted.set(name, address);
    if (!this.#byAddress.has(address)) this.#byAddress.set(address, name);
    return { type: "admitted", address };
  }
}
