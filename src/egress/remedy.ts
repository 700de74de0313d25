import type { Decision } from "../core/effects.ts";
import { decideConnection, type Judging } from "../policy/decide-connection.ts";
import type { HostRule } from "../policy/hosts.ts";
import { EgressRefusal } from "./refusal.ts";

type Place = { host: string; port: number };

/** Why the policy does not let a connection through by itself, and what a person could do so that it does. */
export function refusalBy(policy: Judging, place: Place): EgressRefusal {
  const decision = decideConnection(policy, place);
  if (decision.type === "allow") return new EgressRefusal("its rules name no port", NO_PORT);
  const denial = { rule: decision.rule, enable_with: remedyFor(policy, place, decision) };
  return new EgressRefusal(reasonOf(decision), denial);
}

const NO_PORT = { rule: "built-in/network.ports", enable_with: "list the ports in its rule, as `ports: [443]`" };

function reasonOf({ type, rule }: Decision): string {
  if (type === "ask") return "nobody said yes to it";
  if (rule.includes("/network.deny[")) return "a rule denies it";
  return rule.endsWith("/approval.net") ? "connections are off" : "no rule admits it";
}

/** A phrase. Asks the policy itself what it would say to a person's flag. */
function remedyFor(policy: Judging, place: Place, decision: Exclude<Decision, { type: "allow" }>): string {
  if (decision.rule.includes("/network.deny[")) return `no flag opens it; ${decision.enableWith}`;
  const flagged = decideConnection(withFlag(policy, place), place);
  const helps = decision.type === "ask" ? flagged.type === "allow" : flagged.type !== "deny";
  if (helps) return `${decision.enableWith}, or copy \`${commandFor(place)}\``;
  const also = flagged.rule === decision.rule ? "" : `; ${whose(flagged.rule)} must admit it too`;
  return `${decision.enableWith} in ${whose(decision.rule)}${also}; no flag opens it`;
}

function whose(rule: string): string {
  return `the policy of \`${rule}\``;
}

function commandFor({ host, port }: Place): string {
  return `glovebox run --allow-host ${port === 443 ? host : `${host}:${port}`}`;
}

/** The policy as if the person had named the host on the command line: their word, not that of others. */
function withFlag(policy: Judging, { host, port }: Place): Judging {
  const value: HostRule = {
    ...{ host, ports: [port], protocol: "auto", private: false },
    ...{ inspect: false, methods: "all", paths: "all" },
  };
  const hosts = policy.network.hosts.map((opinion) => {
    const { allow } = opinion;
    if (!allow || !/^(built-in|user|flag)\//.test(allow.rule)) return opinion;
    return { ...opinion, allow: { ...allow, items: [{ value, rule: "flag/network.allow[0]" }, ...allow.items] } };
  });
  return { ...policy, network: { ...policy.network, hosts } };
}
