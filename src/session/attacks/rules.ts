import { toGloveboxError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { CLOSED_OUTLET } from "../../core/outlet.ts";
import { YES_APPROVER } from "../../gate/approver.ts";
import { ToolGate } from "../../gate/tool-gate.ts";
import { Box, type BoxPlan } from "../../sandbox/box.ts";
import { contractOf, type ToolName } from "../../tools/catalogue.ts";
import { keepNothing } from "../guarding.ts";
import type { Arena } from "./arena.ts";
import type { Attack, Step } from "./attack.ts";
import { calls, control, DONE, deniedBy, fact, tool } from "./steps.ts";

const WRITES = control(tool("write", { path: "free/made.txt", content: "made\n" }, DONE));

/** Ways to change the rules, or to get around them with a yes. */
export const RULE_ATTACKS: Attack[] = [
  {
    id: "L-05",
    title: "The agent edits the policy of its own session",
    steps: () => [
      WRITES,
      tool(
        "write",
        { path: ".glovebox/policy.yaml", content: "version: 1\n" },
        deniedBy("built-in/workspace.protected[*]"),
      ),
      tool(
        "edit",
        { path: ".glovebox/policy.yaml", edits: [{ oldText: "1", newText: "2" }] },
        deniedBy("built-in/workspace.protected[*]"),
      ),
      calls(
        "EROFS EBUSY EXDEV",
        "own openat -100 =.glovebox/policy.yaml 02001",
        "own openat -100 =.glovebox/new.yaml 0101 0644",
        "own unlinkat -100 =.glovebox/policy.yaml 0",
        "own renameat -100 =.glovebox -100 =l05",
        "own renameat2 -100 =.glovebox -100 =spare 2",
      ),
    ],
  },
  {
    id: "L-09",
    title: "A yes to everything lifts a deny, or what is protected",
    steps: () => [
      control(verdict("what nothing denies, with a yes", [], "write", { path: "x", content: "" }, /^allow$/)),
      verdict(
        "a denied tool, with a yes",
        ["write"],
        "write",
        { path: "x", content: "" },
        /^deny attack\/tools\.deny\[0\]$/,
      ),
      WRITES,
      tool("write", { path: "a/b/c.yml", content: "harm" }, deniedBy("attack/workspace.readonly[1]")),
    ],
  },
  {
    id: "L-15",
    title: "A session starts although a control does not hold",
    seconds: 60,
    steps: ({ inside }) => [
      control(opening("as meant", (plan) => plan, /^opened$/)),
      opening(
        "without the filter of system calls",
        (plan) => withSpec(plan, { seccomp: "unconfined" }),
        REFUSED_TO_START,
      ),
      opening(
        "with everything writable",
        (plan) => withSpec(plan, { mounts: plan.spec.mounts.map((mount) => ({ ...mount, readOnly: false })) }),
        REFUSED_TO_START,
      ),
      opening(
        "with more processes",
        (plan) => withSpec(plan, { limits: { ...plan.spec.limits, pids: inside.box.plan.spec.limits.pids + 1 } }),
        REFUSED_TO_START,
      ),
    ],
  },
];

const REFUSED_TO_START = /^SELFTEST_FAILED$/;

function verdict(what: string, denied: string[], name: ToolName, args: { [key: string]: Json }, gives: RegExp): Step {
  return fact(what, ({ policy }) => judgedWithYes(policy, denied, name, args), gives);
}

/** What the tool gate says of a call when whoever is asked says yes. */
async function judgedWithYes(
  policy: Arena["policy"],
  denied: readonly string[],
  name: ToolName,
  args: { [key: string]: Json },
): Promise<string> {
  const rules = denied.map((value, index) => ({ value, rule: `attack/tools.deny[${index}]` }));
  const gate = new ToolGate({ policy: { ...policy, deniedTools: rules }, approver: YES_APPROVER, askAlways: true });
  const request = { callId: "1", tool: name, args, effects: contractOf(name).effects(args) };
  const { type, decision } = await gate.judge(request, new AbortController().signal);
  return type === "allow" ? type : `${type} ${decision.rule}`;
}

function opening(what: string, change: (plan: BoxPlan) => BoxPlan, gives: RegExp): Step {
  return fact(`a container ${what}`, (arena) => opened(arena, change), gives);
}

/** Whether a session would start in a container made so. */
async function opened({ inside }: Arena, change: (plan: BoxPlan) => BoxPlan): Promise<string> {
  const { engine, plan } = inside.box;
  try {
    const other = await Box.start(engine, change(plan), { keep: keepNothing, outlet: CLOSED_OUTLET });
    await other.remove();
    return "opened";
  } catch (error) {
    return toGloveboxError(error).code;
  }
}

function withSpec(plan: BoxPlan, change: Partial<BoxPlan["spec"]>): BoxPlan {
  return { ...plan, spec: { ...plan.spec, ...change } };
}
