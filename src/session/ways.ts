import { systemDialler } from "../egress/dialler.ts";
import type { EgressOptions } from "../egress/egress.ts";
import { type HostApprover, NOBODY_TO_ASK } from "../egress/host-approver.ts";
import { upstreamProxyFrom } from "../egress/upstream-proxy.ts";
import { admittedHosts } from "../policy/admitted-hosts.ts";
import type { Policy } from "../policy/policy.ts";
import type { Surroundings } from "./surroundings.ts";

/** How connections leave this machine, whom servers are trusted by, and who is asked for a host. */
export type Ways = Pick<EgressOptions, "dialler" | "proxy" | "approver" | "authorities">;

/**
 * The person's own ways: their resolver, and their proxy where the environment names one and the policy admits a host.
 * @throws GloveboxError `CONFIG_INVALID` for a proxy that cannot be used.
 */
export function waysOf(
  { env, dialler }: Pick<Surroundings, "env" | "dialler">,
  policy: Policy,
  approver: HostApprover = NOBODY_TO_ASK,
): Ways {
  // A proxy that nothing would go through must not keep a run from starting.
  const proxy = admittedHosts(policy).length === 0 ? undefined : upstreamProxyFrom(env);
  return { dialler: dialler ?? systemDialler(), proxy, approver };
}
