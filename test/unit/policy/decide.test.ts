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
    ["npm run build -- --x 'a b'", "commands that begin with `npm run`"],
    ["./run.sh all", "commands that begin with `./run.sh all`"],
    ["make", "exactly this command"],
    ["rm -rf build", "exactly this command"],
    ["python -c 'print(1)'", "exactly this command"],
    ["echo 'a b'", "exactly this command"],
    ["git push; rm -rf /", undefined],
    ["git push && x", undefined],
    ["echo $(id)", undefined],
    ["echo `id`", undefined],
    ["cat < /etc/passwd", undefined],
    ["git push > log", undefined],
    ["git push\nrm x", undefined],
    ["A=1 git push", undefined],
    ["git push $x", undefined],
    ["sudo git push", undefined],
    ["(", undefined],
  ])("%j: %s", (command, words) => {
    expect(grantFor("bash", [exec(command)])?.words).toBe(words);
  });

  it("is the same for commands that share program and subcommand, and for no others", () => {
    const keyOf = (command: string) => grantFor("bash", [exec(command)])?.key;
    expect(keyOf("git  push b")).toBe(keyOf('git "push" a'));
    expect(keyOf("ls -la")).toBe(keyOf("ls  '-la'"));
    const others = ["git push", "git pull", "git", "git -C x push", "/tmp/git push", "ls -la", "ls -la /", "ls"];
    expect(new Set(others.map(keyOf)).size).toBe(others.length);
  });

  it("is a tool as a whole for what is no command", () => {
    expect(grantFor("write", [{ kind: "write", path: "a" }])?.words).toBe("every `write` call");
  });
});
