import type { Reach } from "../agent/prompt.ts";
import { type AdmittedHost, admittedHosts } from "../policy/admitted-hosts.ts";
import type { Policy } from "../policy/policy.ts";

/** What the model is told of the network. */
export function reachOf(policy: Pick<Policy, "network" | "approval" | "origins">): Reach {
  const hosts = admittedHosts(policy);
  const wordsOf = (asked: boolean): string[] => hosts.filter((host) => host.asked === asked).map(hostWords);
  const forwards = policy.approval.net === "deny" ? [] : policy.network.forward;
  return {
    allowed: wordsOf(false),
    asked: wordsOf(true),
    forwards: forwards.map(({ value }) => `127.0.0.1:${value.split(" ")[0]}`),
  };
}

function hostWords({ host, ports }: AdmittedHost): string {
  return ports.length === 1 && ports[0] === 443 ? host : `${host}:${ports.join(",")}`;
}
