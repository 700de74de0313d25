import type { Decision } from "../core/effects.ts";
import { decideEffect } from "./decide.ts";
import { stricter } from "./decide-command.ts";
import { decideHost } from "./decide-host.ts";
import { changeFor } from "./host-remedy.ts";
import { deniesHost, type HostProbe, type HostRule, matchesNameOf } from "./hosts.ts";
import type { Policy } from "./policy.ts";

/** How the bytes of an admitted connection are looked at: `tcp` not at all. TLS passes as it is, is opened, or may not be. */
export type Treatment = { protocol: HostRule["protocol"]; tls: "sealed" | "opened" | "refused" };

/** What the policy says of a connection to `host` (canonical) at `port`. What is not denied says how it is treated. */
export type ConnectionDecision =
  | (Exclude<Decision, { type: "deny" }> & { treatment: Treatment })
  | Extract<Decision, { type: "deny" }>;

export type Judging = Pick<Policy, "network" | "approval" | "origins">;

/**
 * The loosest treatment that is not denied: a rule with `protocol: tcp` lets bytes pass unseen, one for single requests
 * does not. An `allow` counts before an `ask`. `isPrivate` once the name has been resolved to a private address.
 */
export function decideConnection(
  policy: Judging,
  { host, port, isPrivate = false }: Pick<HostProbe, "host" | "port" | "isPrivate">,
): ConnectionDecision {
  const ways = TREATMENTS.map((treatment) => {
    const { protocol, tls } = treatment;
    const probe = { host, port, isPrivate, protocol, ...(tls !== "refused" && { tls }) };
    return { treatment, decision: decideOne(policy, probe) };
  });
  const best =
    ways.find(({ decision }) => decision.type === "allow") ?? ways.find(({ decision }) => decision.type === "ask");
  if (best && best.decision.type !== "deny") return { ...best.decision, treatment: best.treatment };
  return decideOne(policy, { host, port, isPrivate, protocol: "auto" }) as Extract<Decision, { type: "deny" }>;
}

/** From the loosest on. */
const TREATMENTS: readonly Treatment[] = [
  { protocol: "tcp", tls: "sealed" },
  { protocol: "ssh", tls: "sealed" },
  { protocol: "auto", tls: "sealed" },
  { protocol: "auto", tls: "opened" },
  { protocol: "auto", tls: "refused" },
];

/** What the policy says of one request on a connection it has not denied. `path` without the query. */
export function decideRequest(
  policy: Judging,
  { host, port, isPrivate = false, tls, request }: Omit<HostProbe, "protocol">,
): Decision {
  return decideOne(policy, {
    host,
    port,
    isPrivate,
    protocol: "auto",
    ...(tls && { tls }),
    ...(request && { request }),
  });
}

/** Whether a rule that may admit requests to `host` at `port` names paths, so that it matters how a path is read. */
export function seesPaths(policy: Judging, { host, port }: Pick<HostProbe, "host" | "port">): boolean {
  const rules = policy.network.hosts.flatMap(({ allow, ask }) => [...(allow?.items ?? []), ...(ask?.items ?? [])]);
  return rules.some(({ value }) => value.paths !== "all" && deniesHost(value, { host, port, protocol: "auto" }));
}

/** The ports of a name that some rule may admit, with or without a question; empty for a name that none does. */
export function portsOf(policy: Judging, host: string): number[] {
  const rules = policy.network.hosts.flatMap(({ allow, ask }) => [...(allow?.items ?? []), ...(ask?.items ?? [])]);
  const named = rules.filter(({ value }) => matchesNameOf(value.host, host));
  const ports = new Set(named.flatMap(({ value }) => (value.ports === "all" ? [] : value.ports)));
  return [...ports]
    .filter((port) => decideConnection(policy, { host, port }).type !== "deny")
    .toSorted((a, b) => a - b);
}

function decideOne(policy: Judging, probe: HostProbe): Decision {
  const net = decideEffect(policy, "net");
  // Then no rule for a host changes anything.
  if (net.type === "deny") return net;
  const { hosts } = policy.network;
  const { type, rule } = decideHost(hosts, probe);
  const said: Decision =
    type === "allow" ? { type, rule } : { type, rule, enableWith: changeFor(hosts, probe, { type, rule }).words };
  // Of two that allow, the rule for the host says more.
  return net.type === "allow" ? said : stricter(said, net);
}
