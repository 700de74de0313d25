import type { Policy } from "./policy.ts";

/**
 * The policy behind a wall that is weaker than meant: `allow` of writing and executing is built in because the wall has
 * been proved, so there it becomes `ask`. What a person or an organisation says themselves stands. Pure.
 */
export function weakened(policy: Policy): Policy {
  const approval = { ...policy.approval };
  const origins = { ...policy.origins };
  for (const kind of ["write", "exec"] as const) {
    const key = `approval.${kind}`;
    if (origins[key] !== `built-in/${key}` || approval[kind] !== "allow") continue;
    approval[kind] = "ask";
    origins[key] = "built-in/approval.weakened";
  }
  return { ...policy, approval, origins };
}
