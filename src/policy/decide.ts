import type { Decision, Effect } from "../core/effects.ts";
import type { Policy } from "./policy.ts";

/** A call as policy judges it. */
export type JudgedCall = { tool: string; effects: readonly Effect[] };

/**
 * What the policy says of a call: no to a denied tool, else the strictest word over all its effects. A call that names
 * none is denied.
 */
export function decide(policy: Policy, { tool, effects }: JudgedCall): Decision {
  const denied = policy.deniedTools.find(({ value }) => value === tool);
  if (denied) return { type: "deny", rule: denied.rule, enableWith: `take \`${tool}\` out of \`tools.deny\`` };
  const [first, ...rest] = effects.map((effect) => decideEffect(policy, effect.kind));
  return first ? rest.reduce(stricter, first) : NO_EFFECTS;
}

const NO_EFFECTS: Decision = {
  type: "deny",
  rule: "built-in/effects",
  enableWith: "a tool must say what it would do before it may run",
};

/** What the policy says of one kind of effect. */
export function decideEffect({ approval, origins }: Policy, kind: Effect["kind"]): Decision {
  const key = `approval.${kind}`;
  const rule = origins[key] ?? `built-in/${key}`;
  const setting = approval[kind];
  return setting === "allow"
    ? { type: "allow", rule }
    : { type: setting, rule, enableWith: `set \`approval: { ${kind}: allow }\` in the policy that has this rule` };
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const satisfies Record<Decision["type"], number>;

function stricter(a: Decision, b: Decision): Decision {
  return STRICTNESS[b.type] > STRICTNESS[a.type] ? b : a;
}
