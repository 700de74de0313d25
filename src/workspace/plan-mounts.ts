import { lookAt } from "./look.ts";
import { type MountPlan, type MountRules, mountPlan } from "./mount-plan.ts";

/** The mount plan of a folder as it is now. @throws as {@link mountPlan}. */
export async function planMounts(root: string, rules: MountRules): Promise<MountPlan> {
  const paths = [...rules.writable.items, ...rules.readonly].map(({ value }) => value);
  return mountPlan(root, rules, await lookAt(root, paths));
}
