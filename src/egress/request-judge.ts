import type { Decision } from "../core/effects.ts";
import { decideConnection, decideRequest, type Judging, type Treatment } from "../policy/decide-connection.ts";
import type { Carriage } from "./carriage.ts";
import type { Target } from "./dial/route.ts";
import { EgressRefusal } from "./refusal.ts";
import { changedRule } from "./remedy.ts";

type Request = Parameters<Carriage["judge"]>[0];

/** `isGranted`: a person said yes to the connection. */
type Judged = { target: Target; rule: string; treatment: Treatment; isGranted: boolean };

/** What the policy says of the requests of one connection: what it would ask of a person counts as what they said. */
export class RequestJudge {
  readonly #policy: Judging;
  readonly #judged: Judged;
  /** Requests that were let through before anybody knew where the name leads. */
  readonly #early: Request[] = [];
  #place: "unknown" | "public" | "private" = "unknown";

  constructor(policy: Judging, judged: Judged) {
    this.#policy = policy;
    this.#judged = judged;
  }

  judge(request: Request): Decision {
    if (this.#place === "unknown") this.#early.push(request);
    return this.#decide(request);
  }

  /** The way is found: to public addresses, unless they were said to be private. */
  settle(): void {
    if (this.#place === "unknown") this.#place = "public";
  }

  /** Why the name may not lead to a private address: what is on its way already must be admitted there, too. */
  enterPrivate(): EgressRefusal | undefined {
    const { target, rule, treatment } = this.#judged;
    this.#place = "private";
    const decision = decideConnection(this.#policy, { ...target, isPrivate: true });
    const isAdmitted = decision.type !== "deny" && this.#afterAsking(decision).type === "allow";
    const isSame = isAdmitted && isSameTreatment(decision.treatment, treatment);
    if (isSame && this.#early.every((request) => this.#decide(request).type === "allow")) return undefined;
    const written = changedRule(this.#policy, { ...target, rule }, { private: true });
    return new EgressRefusal("it leads to a private address", {
      rule: "built-in/network.private",
      enable_with: written
        ? `write \`${written}\` in your own \`network.allow\`, if it is meant`
        : "another policy keeps it to public addresses",
    });
  }

  #decide(request: Request): Decision {
    const { target, treatment } = this.#judged;
    const isPrivate = this.#place === "private";
    // TLS that is not opened shows no request, so a request that is seen came without TLS, or out of it.
    const tls = treatment.tls === "opened" ? ({ tls: "opened" } as const) : {};
    return this.#afterAsking(decideRequest(this.#policy, { ...target, isPrivate, ...tls, request }));
  }

  #afterAsking(decision: Decision): Decision {
    if (decision.type !== "ask") return decision;
    return this.#judged.isGranted ? { type: "allow", rule: decision.rule } : { ...decision, type: "deny" };
  }
}

function isSameTreatment(one: Treatment, other: Treatment): boolean {
  return one.protocol === other.protocol && one.tls === other.tls;
}
