import { decideEffect } from "../policy/decide.ts";
import { type ConnectionDecision, decideConnection, type Judging } from "../policy/decide-connection.ts";
import { changeFor, plainRule, ruleAt, ruleText, withOwn } from "../policy/host-remedy.ts";
import type { HostRule } from "../policy/hosts.ts";
import { EgressRefusal } from "./refusal.ts";

type Place = { host: string; port: number };
type Refused = Exclude<ConnectionDecision, { type: "allow" }>;

/** Why the policy does not let a connection through by itself, and what a person could do so that it does. */
export function refusalBy(policy: Judging, place: Place): EgressRefusal {
  const decision = decideConnection(policy, place);
  if (decision.type === "allow") return new EgressRefusal("its rules name no port", NO_PORT);
  const denial = { rule: decision.rule, enable_with: remedyFor(policy, place, decision) };
  return new EgressRefusal(reasonOf(decision), denial);
}

/** The same of a name nobody has named a port for yet. */
export function refusalOfName(policy: Judging, host: string): EgressRefusal {
  const refusal = refusalBy(policy, { host, port: 443 });
  const { rule = "", enable_with: remedy = "" } = refusal.denial ?? {};
  if (isOff(rule) || rule.includes("/network.deny[")) return refusal;
  const other = remedy.includes("--allow-host") ? `\`${host}:PORT\`` : `\`ports: [PORT]\``;
  return new EgressRefusal(refusal.message, { rule, enable_with: `${remedy} (for port 443; ${other} admits another)` });
}

/** Why nothing goes out at all; undefined where something may. */
export function refusalOfAll(policy: Judging): EgressRefusal | undefined {
  const { type, rule, ...more } = decideEffect(policy, "net");
  if (type !== "deny" || !("enableWith" in more)) return undefined;
  return new EgressRefusal(OFF, { rule, enable_with: more.enableWith });
}

/** The rule that let a connection through, as it would be with these keys; undefined where it would not help. */
export function changedRule(
  policy: Judging,
  { host, port, rule }: Place & { rule: string },
  changed: Partial<Pick<HostRule, "protocol" | "private">>,
): string | undefined {
  const { hosts } = policy.network;
  const value = { ...ruleAt(hosts, { host, port }, rule), ...changed };
  if (value.protocol !== "auto" && (value.inspect || value.methods !== "all" || value.paths !== "all"))
    return undefined;
  const network = { ...policy.network, hosts: withOwn(hosts, value, "user/network.allow[+]") };
  const judged = decideConnection({ ...policy, network }, { host, port, isPrivate: changed.private === true });
  const helps = judged.type !== "deny" && (!changed.protocol || isFor(judged.treatment.protocol, changed.protocol));
  return helps ? ruleText(value) : undefined;
}

function isFor(met: HostRule["protocol"], wanted: HostRule["protocol"]): boolean {
  return met === wanted || met === "tcp";
}

const NO_PORT = { rule: "built-in/network.ports", enable_with: "list the ports in its rule, as `ports: [443]`" };
const OFF = "connections are off";

function isOff(rule: string): boolean {
  return rule.endsWith("/approval.net");
}

function reasonOf({ type, rule }: Refused): string {
  if (type === "ask") return "nobody said yes to it";
  if (rule.includes("/network.deny[")) return "a rule denies it";
  return isOff(rule) ? OFF : "no rule admits it";
}

/** A phrase. Asks the policy itself what it would say to it. */
function remedyFor(policy: Judging, place: Place, decision: Refused): string {
  if (isOff(decision.rule)) return decision.enableWith;
  const steps = stepsFor(policy, place, decision);
  const network = { ...policy.network, hosts: withOwn(policy.network.hosts, plainRule(place), "flag/allow-host[0]") };
  const flagged = decideConnection({ ...policy, network }, place);
  const helps = decision.type === "ask" ? flagged.type === "allow" : flagged.type !== "deny";
  if (helps) return `${steps[0]?.words ?? decision.enableWith}, or copy \`${commandFor(place)}\``;
  const words = steps.map(({ words, rule }) =>
    words.includes(rule) ? words : `${words} in the policy of \`${rule}\``,
  );
  const said = words.join(", and ");
  return decision.rule.includes("/network.deny[") ? `no flag opens it; ${said}` : `${said}; no flag opens it`;
}

/** Policies that may each say no. */
const MOST_STEPS = 4;

/** What would have to be changed, policy by policy, until the connection is let through. */
function stepsFor(policy: Judging, place: Place, decision: Refused): { words: string; rule: string }[] {
  const steps: { words: string; rule: string }[] = [];
  let judged = policy;
  let said: ConnectionDecision = decision;
  while (said.type !== "allow" && !isOff(said.rule) && steps.length < MOST_STEPS) {
    const { rule, type } = said;
    if (steps.some((step) => step.rule === rule)) break;
    const { words, after } = changeFor(judged.network.hosts, { ...place, protocol: "auto" }, { rule, type });
    steps.push({ words, rule });
    judged = { ...judged, network: { ...judged.network, hosts: after() } };
    said = decideConnection(judged, place);
  }
  return steps;
}

function commandFor({ host, port }: Place): string {
  return `glovebox run --allow-host ${port === 443 ? host : `${host}:${port}`}`;
}
