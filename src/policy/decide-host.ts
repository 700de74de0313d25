import type { Bounds, HostOpinion } from "./bounds.ts";
import { deniesHost, type HostProbe, matchesHost } from "./hosts.ts";

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
  const flag = allow?.items.find((item) => isFlag(item) && deniesHost(item.value, probe));
  const own = allow?.items.filter((item) => !isFlag(item)) ?? [];
  const allowed = own.find(({ value }) => matchesHost(value, probe))?.rule;
  const asked = ask?.items.filter(({ value }) => deniesHost(value, probe)) ?? [];
  if (asked[0]) {
    // A question is for host and port: no rule that lets bytes pass in another way goes round it.
    const isMeant = allowed !== undefined || asked.some(({ value }) => matchesHost(value, probe));
    // A host that a person names for this run is not asked for.
    return flag && isMeant
      ? { allows: true, asks: true, rule: flag.rule }
      : { allows: false, asks: isMeant, rule: asked[0].rule };
  }
  if (allowed) return { allows: true, asks: true, rule: allowed };
  // Where a rule of theirs speaks of the host already, its limits hold.
  const isNamed = own.some(({ value }) => deniesHost(value, probe));
  if (flag && !isNamed && matchesHost(flag.value, probe)) return { allows: true, asks: true, rule: flag.rule };
  if (allow) return { allows: false, asks: false, rule: allow.rule };
  return { allows: true, asks: !ask, rule: ask?.rule ?? deny?.rule ?? NOBODY.rule };
}

/** Whether a rule is a person's word on the command line. */
export function isFlag({ rule }: { rule: string }): boolean {
  return rule.startsWith("flag/");
}
