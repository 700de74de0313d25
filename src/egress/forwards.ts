import type { Policy } from "../policy/policy.ts";
import type { Target } from "./dial/route.ts";

/** A service of the host that a port inside reaches, and the rule that says so. */
export type Forward = Target & { rule: string };

/** The forwards of a policy by their port inside; of two with one port the first. */
export function forwardsOf(network: Pick<Policy["network"], "forward">): Map<number, Forward> {
  const parsed = network.forward.flatMap(({ value, rule }) => {
    const [, listen, bracketed, plain, port] = FORWARD.exec(value) ?? [];
    const host = bracketed ?? plain;
    return host === undefined ? [] : [[Number(listen), { host, port: Number(port), rule }] as const];
  });
  return new Map(parsed.toReversed());
}

/** As `5433 to 127.0.0.1:5432` or `5433 to [::1]:5432`: the form the policy's schema has checked. */
const FORWARD = /^(\d{1,5}) to (?:\[([\da-f:]+)\]|([\w.-]+)):(\d{1,5})$/i;
