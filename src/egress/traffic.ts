import type { Policy } from "../policy/policy.ts";
import { EgressRefusal } from "./refusal.ts";

type Limit = Policy["network"]["uploadBytes"];

/** The bytes of one connection. */
export type Meter = {
  readonly up: number;
  readonly down: number;
  /** @throws EgressRefusal before bytes go up that would be too many for their host. */
  count: (direction: "up" | "down", bytes: number) => void;
};

/** What went to each host in a session. Names are bounded where they are admitted. */
export class Traffic {
  readonly #limit: Limit;
  readonly #up = new Map<string, number>();

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  /** Why nothing more may go to `host`; undefined while something may. */
  refusalOf(host: string): EgressRefusal | undefined {
    const isFull = this.#limit !== undefined && (this.#up.get(host) ?? 0) >= this.#limit.value;
    return isFull ? this.#refusal(host) : undefined;
  }

  meter(host: string): Meter {
    const meter = {
      up: 0,
      down: 0,
      count: (direction: "up" | "down", bytes: number): void => {
        if (direction === "up") this.#send(host, bytes);
        meter[direction] += bytes;
      },
    };
    return meter;
  }

  #send(host: string, bytes: number): void {
    const sent = (this.#up.get(host) ?? 0) + bytes;
    if (this.#limit !== undefined && sent > this.#limit.value) {
      // The host is full from here on, so that what is left of the limit is not drained in small pieces.
      this.#up.set(host, this.#limit.value);
      throw this.#refusal(host);
    }
    this.#up.set(host, sent);
  }

  #refusal(host: string): EgressRefusal {
    const { value = 0, rule = "" } = this.#limit ?? {};
    return new EgressRefusal(`\`${host}\` was sent the ${value} bytes that a session may send to one host`, {
      rule,
      enable_with: "raise `network.upload_limit`",
    });
  }
}
