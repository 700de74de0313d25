import { figures } from "./measure.mjs";
import { fromDist } from "./place.mjs";

/** Commands as models write them. */
const ORDINARY = [
  "git status",
  "npm test -- --run src/cart.test.js",
  "cd packages/core && npx tsc --noEmit 2>&1 | head -50",
  'grep -rn "total" src --include="*.ts" | sort | uniq -c',
  'for f in $(git diff --name-only); do echo "== $f"; wc -l < "$f"; done',
];
/** Rules as a careful person has them. */
const RULES = ["ask git push", "deny npm publish", "ask curl", "ask rm", "deny sudo", "ask docker run", "deny kubectl"];
const LIMIT = 50;
const CALLS = 200;

/** What a policy takes to decide on a command, analysis included. */
export async function verdicts() {
  const { decide } = await fromDist("policy/decide.js");
  const { commandRulesOf } = await fromDist("policy/decide-command.js");
  const { BUILT_IN_POLICY } = await fromDist("policy/policy.js");
  const items = RULES.map((value, index) => ({ value, rule: `user/commands[${index}]` }));
  const commands = commandRulesOf({ lists: { "commands.restrict": { rule: "user/commands", items } } });
  const policy = { ...BUILT_IN_POLICY, commands };
  const calls = ORDINARY.map((command) => ({ tool: "bash", effects: [{ kind: "exec", command }] }));
  const times = [];
  for (let round = -50; round < 200; round++) {
    const startedAt = performance.now();
    for (let count = 0; count < CALLS; count++) for (const call of calls) decide(policy, call);
    const us = ((performance.now() - startedAt) * 1000) / (CALLS * calls.length);
    if (round >= 0) times.push(us);
  }
  const verdict = figures(times);
  return [
    {
      name: `verdict on an ordinary command, ${RULES.length} rules`,
      ...{ value: verdict.p50, unit: "µs", ratio: null, limit: `≤ ${LIMIT} µs`, holds: verdict.p50 <= LIMIT },
      raw: { verdict_us: verdict },
    },
  ];
}
