import type { Bounds, HostOpinion } from "./bounds.ts";
import { deniesHost, type HostProbe, type HostRule, matchesHost } from "./hosts.ts";
import type { RuledList } from "./layer.ts";

export type HostDecision = { type: "allow" | "ask" | "deny"; rule: string };

/** What all layers together say of a connection: the strictest word. Where nobody has an opinion, no. */
export function decideHost(hosts: Bounds["hosts"], probe: HostProbe): HostDecision {
  const opinions = hosts.map((opinion) => judge(opinion, probe));
  const forbids = opinions.find(({ allows, asks }) => !allows && !asks);
  if (forbids) return { type: "deny", rule: forbids.rule };
  const questions = opinions.find(({ allows }) => !allows);
  if (!questions) return opinions[0] ? { type: "allow", rule: opinions[0].rule } : NOBODY;
  const unaskable = opinions.find(({ asks }) => !asks);
  return unaskable ? { type: "deny", rule: unaskable.rule } : { type: "ask", rule: questions.rule };
}

const NOBODY: HostDecision = { type: "deny", rule: "built-in/network.allow" };

/** What one layer lets happen: without a question, with one. A list it does not name forbids nothing. */
type Judgement = { allows: boolean; asks: boolean; rule: string };

function judge({ allow, ask, deny }: HostOpinion, probe: HostProbe): Judgement {
  const denied = deny?.items.find(({ value }) => deniesHost(value, probe))?.rule;
  if (denied) return { allows: false, asks: false, rule: denied };
  // A host that a person names for this run is not asked for, also where their file asks.
  const named = allow && ruleFor({ ...allow, items: allow.items.filter(isFlag) }, probe);
  if (named) return { allows: true, asks: true, rule: named };
  const asked = ruleFor(ask, probe);
  if (asked) return { allows: false, asks: true, rule: asked };
  const allowed = ruleFor(allow, probe);
  if (allowed) return { allows: true, asks: true, rule: allowed };
  if (allow) return { allows: false, asks: false, rule: allow.rule };
  return { allows: true, asks: !ask, rule: ask?.rule ?? deny?.rule ?? NOBODY.rule };
}

/** Whether a rule is a person's word on the command line. */
export function isFlag({ rule }: { rule: string }): boolean {
  return rule.startsWith("flag/");
}

function ruleFor(list: RuledList<HostRule> | undefined, probe: HostProbe): string | undefined {
  return list?.items.find(({ value }) => matchesHost(value, probe))?.rule;
}
