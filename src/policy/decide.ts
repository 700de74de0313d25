import type { Decision, Effect } from "../core/effects.ts";
import type { ApprovalSetting, Policy } from "./policy.ts";

/** What the policy says of a call: the strictest word over all its effects. A call that names none is denied. */
export function decide(policy: Policy, effects: readonly Effect[]): Decision {
  const [first, ...rest] = effects.map((effect) => decideEffect(policy, effect));
  return first ? rest.reduce(stricter, first) : NO_EFFECTS;
}

const NO_EFFECTS: Decision = {
  type: "deny",
  rule: "built-in/effects",
  enableWith: "a tool must say what it would do before it may run",
};

function decideEffect(policy: Policy, effect: Effect): Decision {
  const rule = `${policy.source}/approval.${effect.kind}`;
  return decisionFor(policy.approval[effect.kind], rule, `set \`approval: { ${effect.kind}: allow }\` in your policy`);
}

function decisionFor(setting: ApprovalSetting, rule: string, enableWith: string): Decision {
  return setting === "allow" ? { type: "allow", rule } : { type: setting, rule, enableWith };
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const satisfies Record<Decision["type"], number>;

function stricter(a: Decision, b: Decision): Decision {
  return STRICTNESS[b.type] > STRICTNESS[a.type] ? b : a;
}
