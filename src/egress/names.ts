import type { AdmittedName } from "../core/outlet.ts";
import { type Judging, portsOf } from "../policy/decide-connection.ts";
import { matchesNameOf } from "../policy/hosts.ts";
import { EgressRefusal } from "./refusal.ts";
import { refusalOfName } from "./remedy.ts";

/** Names of a session that get an address. */
export const MOST_NAMES = 512;
/** Names below one wildcard: names carry data to whoever answers for the domain. */
export const MOST_BELOW_WILDCARD = 50;

/** The names of a session that were looked up and admitted, each with an address that stays the same. */
export class Names {
  readonly #policy: Judging;
  readonly #admitted = new Map<string, AdmittedName>();
  readonly #below = new Map<string, number>();

  constructor(policy: Judging) {
    this.#policy = policy;
  }

  /** `host` is canonical. Undefined until {@link admit} has admitted it. */
  get(host: string): AdmittedName | undefined {
    return this.#admitted.get(host);
  }

  /** @throws EgressRefusal for a name that no rule admits at any port, or that is one too many. */
  admit(host: string): AdmittedName {
    const known = this.#admitted.get(host);
    if (known) return known;
    const ports = portsOf(this.#policy, host);
    if (ports.length === 0) throw refusalOfName(this.#policy, host);
    if (this.#admitted.size >= MOST_NAMES) throw tooMany(`${MOST_NAMES} different names`);
    const wildcard = this.#wildcardOf(host);
    if (wildcard !== undefined) this.#count(wildcard);
    const number = this.#admitted.size + 1;
    const name = { address: `127.77.${number >> 8}.${number & 255}`, ports };
    this.#admitted.set(host, name);
    return name;
  }

  /** The closest wildcard a name is admitted by; undefined where a rule names it. */
  #wildcardOf(host: string): string | undefined {
    const rules = this.#policy.network.hosts.flatMap(({ allow, ask }) => [
      ...(allow?.items ?? []),
      ...(ask?.items ?? []),
    ]);
    const patterns = rules.map(({ value }) => value.host).filter((pattern) => matchesNameOf(pattern, host));
    if (patterns.includes(host)) return undefined;
    return patterns.toSorted((a, b) => b.length - a.length)[0];
  }

  #count(wildcard: string): void {
    const count = this.#below.get(wildcard) ?? 0;
    if (count >= MOST_BELOW_WILDCARD) throw tooMany(`${MOST_BELOW_WILDCARD} different names below \`${wildcard}\``);
    this.#below.set(wildcard, count + 1);
  }
}

function tooMany(what: string): EgressRefusal {
  return new EgressRefusal(`this session has had ${what}, which is the limit`, {
    rule: "built-in/network.names",
    enable_with: "name the hosts themselves in `network.allow`, or start another session",
  });
}
