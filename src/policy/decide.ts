import type { Decision, Effect, EffectKind } from "../core/effects.ts";
import { decideCommand, stricter } from "./decide-command.ts";
import type { ApprovalSetting, Policy } from "./policy.ts";

/** A call as policy judges it. */
export type JudgedCall = { tool: string; effects: readonly Effect[] };

/**
 * What the policy says of a call: no to a denied tool, else the strictest word over all its effects. A call that names
 * none is denied.
 */
export function decide(policy: Policy, { tool, effects }: JudgedCall): Decision {
  const denied = policy.deniedTools.find(({ value }) => value === tool);
  if (denied) return { type: "deny", rule: denied.rule, enableWith: `take \`${tool}\` out of \`tools.deny\`` };
  const [first, ...rest] = effects.map((effect) => decideOne(policy, effect));
  return first ? rest.reduce(stricter, first) : NO_EFFECTS;
}

function decideOne(policy: Policy, effect: Effect): Decision {
  const base = decideEffect(policy, effect.kind);
  return effect.kind === "exec" ? decideCommand(policy.commands, base, effect.command) : base;
}

const NO_EFFECTS: Decision = {
  type: "deny",
  rule: "built-in/effects",
  enableWith: "a tool must say what it would do before it may run",
};

/** What the policy says of one kind of effect. */
export function decideEffect(
  { approval, origins }: Pick<Policy, "approval" | "origins">,
  kind: Effect["kind"],
): Decision {
  const key = `approval.${kind}`;
  return decisionOf(kind, approval[kind], origins[key] ?? `built-in/${key}`);
}

function whereOf(rule: string): string {
  return rule.startsWith("built-in/") ? "your policy" : "the policy that has this rule";
}

/** What a word of `approval` means for its kind of effect. */
export function decisionOf(kind: EffectKind, setting: ApprovalSetting, rule: string): Decision {
  return setting === "allow"
    ? { type: "allow", rule }
    : { type: setting, rule, enableWith: `set \`approval: { ${kind}: allow }\` in ${whereOf(rule)}` };
}
