import { systemDialler } from "../egress/dialler.ts";
import type { EgressOptions } from "../egress/egress.ts";
import { type HostApprover, NOBODY_TO_ASK } from "../egress/host-approver.ts";
import { upstreamProxyFrom } from "../egress/upstream-proxy.ts";
import type { Surroundings } from "./surroundings.ts";

/** How connections leave this machine, whom servers are trusted by, and who is asked for a host. */
export type Ways = Pick<EgressOptions, "dialler" | "proxy" | "approver" | "authorities">;

/** The person's own ways: their resolver, and their proxy where the environment names one. */
export function waysOf({ env, dialler }: Pick<Surroundings, "env" | "dialler">, approver?: HostApprover): Ways {
  return { dialler: dialler ?? systemDialler(), proxy: upstreamProxyFrom(env), approver: approver ?? NOBODY_TO_ASK };
}
