import { decideConnection, portsOf } from "./decide-connection.ts";
import type { Policy } from "./policy.ts";

/** A host as a rule names it, a name or `*.name`, with the ports at which it is admitted; `asked`: by a person's yes. */
export type AdmittedHost = { host: string; ports: readonly number[]; asked: boolean };

/** The hosts that all layers together admit, or let a person admit, in the order of their rules. Pure. */
export function admittedHosts(policy: Pick<Policy, "network" | "approval" | "origins">): AdmittedHost[] {
  const rules = policy.network.hosts.flatMap(({ allow, ask }) => [...(allow?.items ?? []), ...(ask?.items ?? [])]);
  const named = new Set(rules.map(({ value }) => value.host).filter((host) => !host.includes(":")));
  return [...named].flatMap((host) => {
    // Any name below a wildcard stands for all: a rule for one of them alone is a host of its own here.
    const name = host.replace(/^\*/, "any");
    const ports = portsOf(policy, name);
    const asked = (port: number): boolean => decideConnection(policy, { host: name, port }).type === "ask";
    return [false, true].flatMap((isAsked) => {
      const these = ports.filter((port) => asked(port) === isAsked);
      return these.length === 0 ? [] : [{ host, ports: these, asked: isAsked }];
    });
  });
}
