import { describe, expect, it } from "vitest";
import type { Effect } from "../../../src/core/effects.ts";
import { grantFor } from "../../../src/gate/grant.ts";
import { decide } from "../../../src/policy/decide.ts";
import { BUILT_IN_POLICY, type Policy } from "../../../src/policy/policy.ts";

const exec = (command: string): Effect => ({ kind: "exec", command });

describe("the decision on a call", () => {
  const policy: Policy = {
    ...BUILT_IN_POLICY,
    approval: { read: "allow", write: "ask", exec: "deny", net: "ask" },
    deniedTools: [{ value: "grep", rule: "user/tools.deny[0]" }],
    origins: {
      "approval.read": "user/approval.read",
      "approval.write": "user/approval.write",
      "approval.exec": "project/approval.exec",
    },
  };

  it.each<[string, Effect[], object]>([
    ["allows what the policy allows", [{ kind: "read", path: "a" }], { type: "allow", rule: "user/approval.read" }],
    [
      "names the rule of the strictest effect",
      [
        { kind: "read", path: "a" },
        { kind: "write", path: "a" },
      ],
      { type: "ask", rule: "user/approval.write" },
    ],
    [
      "denies when one of several effects is denied",
      [exec("ls"), { kind: "write", path: "a" }],
      { type: "deny", rule: "project/approval.exec" },
    ],
    ["denies a call that names no effect", [], { type: "deny", rule: "built-in/effects" }],
  ])("%s", (_, effects, expected) => {
    expect(decide(policy, { tool: "bash", effects })).toMatchObject(expected);
  });

  it("denies a tool that a policy lists, whatever it would do", () => {
    const effects: Effect[] = [{ kind: "read", path: "a" }];
    expect(decide(policy, { tool: "grep", effects })).toMatchObject({ type: "deny", rule: "user/tools.deny[0]" });
    expect(decide(policy, { tool: "read", effects }).type).toBe("allow");
  });
});

describe("what `always` covers", () => {
  it.each([
    ["git push origin main", "commands that begin with `git push`"],
    ["ls -la", "commands that begin with `ls`"],
    ["git push; rm -rf /", "exactly this command"],
    ["git push && x", "exactly this command"],
    ["echo $(id)", "exactly this command"],
    ["echo `id`", "exactly this command"],
    ["cat < /etc/passwd", "exactly this command"],
    ["git push\nrm x", "exactly this command"],
    ["A=1 git push", "exactly this command"],
    ["echo 'a b'", "exactly this command"],
  ])("%j: %s", (command, grant) => {
    expect(grantFor("bash", [exec(command)]).words).toBe(grant);
  });

  it("differs between two commands that share no first words", () => {
    expect(grantFor("bash", [exec("git push")]).key).not.toBe(grantFor("bash", [exec("git pull")]).key);
    expect(grantFor("bash", [exec("git push a")]).key).toBe(grantFor("bash", [exec("git push b")]).key);
  });
});
