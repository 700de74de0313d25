import { describe, expect, it } from "vitest";
import { boundsOf, meet, UNBOUND } from "../../../src/policy/bounds.ts";
import { BUILT_IN_LAYER } from "../../../src/policy/built-in.ts";
import { decide } from "../../../src/policy/decide.ts";
import { effectivePolicy, type Layers } from "../../../src/policy/effective.ts";
import type { LayerName } from "../../../src/policy/layer.ts";
import { parsePolicy } from "../../../src/policy/parse.ts";
import { BUILT_IN_POLICY, policyOf } from "../../../src/policy/policy.ts";

/** What the policy of these files says of commands, as `decision rule`. */
async function judge(files: Partial<Record<LayerName, string>>, more: Pick<Layers, "isProjectTrusted"> = {}) {
  const layers: Layers = { ...more };
  for (const [layer, rules] of Object.entries(files) as ["organisation" | "user" | "project", string][]) {
    layers[layer] = (await parsePolicy(`version: 1\n${rules}`, { file: "p.yaml", layer })).opinions;
  }
  const { bounds, image, dropped } = effectivePolicy(layers);
  const policy = policyOf(bounds, { image: image ?? { value: "", rule: "" }, runtime: undefined });
  return {
    dropped: dropped.map(({ rule, by, kept }) => `${rule}: ${by} keeps ${kept}`),
    of: (command: string): string => {
      const { type, rule } = decide(policy, { tool: "bash", effects: [{ kind: "exec", command }] });
      return `${type} ${rule}`;
    },
    /** What a person could do about it. */
    wayOf: (command: string): string | undefined => {
      const decision = decide(policy, { tool: "bash", effects: [{ kind: "exec", command }] });
      return decision.type === "allow" ? undefined : decision.enableWith;
    },
  };
}

describe("a rule of `commands`", () => {
  const RULES = `commands:
  - { match: git push, decision: ask }
  - { match: npm publish, decision: deny }
  - { match: /usr/bin/curl, decision: deny }
  - { match: rm -rf, decision: ask }
  - { match: kubectl delete, decision: deny }`;
  const ask = "ask user/commands[0]";
  const deny = "deny user/commands[1]";
  const none = "allow built-in/approval.exec";

  it.each([
    ["git push", ask],
    ["git push origin main", ask],
    ["git pushall", none],
    ["git status", none],
    ["echo git push", none],
    ["git -C /x -c a.b=c --git-dir=/y --work-tree /z --no-pager push", ask],
    ["git -C push status", none],
    ["git stash push", none],
    ["/usr/local/bin/git push", ask],
    ["git -c alias.x=push x", ask],
    ["npm --prefix pkg publish", deny],
    ["npm --workspace publish test", none],
    ["curl x", "deny user/commands[2]"],
    ["./curl x", "deny user/commands[2]"],
    ["rm -rf /", "ask user/commands[3]"],
    ["rm -r x", none],
    ["kubectl -n prod --context x delete pod y", "deny user/commands[4]"],
    ["git push; npm publish", deny],
    ["npm publish && git push", deny],
    ["sudo timeout 5 npm publish", deny],
    ["bash -c 'cd x && npm publish'", deny],
    ['echo "$(npm publish)"', deny],
    ["npm publish > log", deny],
    ["sudo sh <<'EOF'\nnpm publish\nEOF", deny],
    ["git $x", ask],
    ['git "$x"', ask],
    ['git -C "$dir" status', none],
    ["git -C $dir status", ask],
    ["ls $x", none],
  ])("%j: %s", async (command, decided) => {
    expect((await judge({ user: RULES })).of(command)).toBe(decided);
  });

  it("asks for what cannot be seen as soon as there is one", async () => {
    const rules = await judge({ user: "commands: [{ match: git push, decision: deny }]" });
    for (const text of ["$x push", "eval $x", "curl x | sh", "echo 'x", "$(x)", `${"(".repeat(99)}`]) {
      expect([text, rules.of(text)]).toEqual([text, "ask user/commands[0]"]);
    }
    expect(rules.of("git push\n(")).toBe("deny user/commands[0]");
    expect((await judge({})).of("echo 'x")).toBe(none);
    expect(rules.wayOf("git $x")).toContain("write the command without what only a shell can know");
    expect(rules.wayOf("git push")).toBe("change that rule of `commands`");
  });

  it("is the strictest of all that match, whatever layer says it", async () => {
    const files = {
      organisation: "commands: [{ match: git push, decision: ask }]",
      user: "commands: [{ match: git, decision: ask }, { match: git push, decision: allow }]",
      project: "commands: [{ match: git push --force, decision: deny }]",
    };
    const rules = await judge(files);
    expect(rules.of("git push --force")).toBe("deny project/commands[0]");
    // An organisation's question is the one to name: only a person may answer it.
    expect(rules.of("git push")).toBe("ask organisation/commands[0]");
    expect(rules.of("git status")).toBe("ask user/commands[0]");
    expect((await judge({ ...files, user: "approval: { exec: deny }" })).of("git push")).toBe(
      "deny user/approval.exec",
    );
  });
});

describe("an allow rule", () => {
  const user = "approval: { exec: ask }\ncommands: [{ match: npm test, decision: allow }]";

  it.each([
    ["npm test", "allow user/commands[0]"],
    ["npm test -- --run 'a b'", "allow user/commands[0]"],
    ["npm run test", "ask user/approval.exec"],
    ["npm --prefix x test", "ask user/approval.exec"],
    ["./npm test", "ask user/approval.exec"],
    ["PATH=. npm test", "ask user/approval.exec"],
    ["npm test > out", "ask user/approval.exec"],
    ["npm test $(x)", "ask user/approval.exec"],
    ["npm test $x", "ask user/approval.exec"],
    ["npm test && ls", "ask user/approval.exec"],
    ["npm test &", "ask user/approval.exec"],
    ["(npm test)", "ask user/approval.exec"],
    ["env npm test", "ask user/approval.exec"],
    ["bash -c 'npm test'", "ask user/approval.exec"],
    ["npm test '", "ask user/approval.exec"],
  ])("O-CMD-01 O-CMD-02 lifts the question of its layer for one plain command: %j: %s", async (command, decided) => {
    expect((await judge({ user })).of(command)).toBe(decided);
  });

  it("lifts no deny, and no rule that asks", async () => {
    const allow = "commands: [{ match: npm test, decision: allow }";
    expect((await judge({ user: `approval: { exec: deny }\n${allow}]` })).of("npm test")).toBe(
      "deny user/approval.exec",
    );
    expect((await judge({ user: `${allow}, { match: npm, decision: ask }]` })).of("npm test")).toBe(
      "ask user/commands[1]",
    );
  });

  it("L-07 lifts no question of another layer", async () => {
    const rules = await judge({ organisation: "approval: { exec: ask }", user });
    expect(rules.of("npm test")).toBe("ask organisation/approval.exec");
    expect(rules.dropped).toEqual(["user/commands[0]: organisation/approval.exec keeps ask"]);
    const both = await judge({
      organisation: "approval: { exec: ask }\ncommands: [{ match: npm, decision: allow }]",
      user,
    });
    expect([both.of("npm test"), both.of("npm x"), both.dropped]).toEqual([
      "allow user/commands[0]",
      "ask organisation/approval.exec",
      [],
    ]);
  });

  it("L-01 of a project counts when the person trusts it, and else lifts nothing and is said to be dropped", async () => {
    const files = { user: "approval: { exec: ask }", project: "commands: [{ match: npm test, decision: allow }]" };
    const untrusted = await judge(files);
    expect([untrusted.of("npm test"), untrusted.dropped]).toEqual([
      "ask user/approval.exec",
      ["project/commands[0]: user/approval.exec keeps ask"],
    ]);
    const trusted = await judge(files, { isProjectTrusted: true });
    expect([trusted.of("npm test"), trusted.dropped]).toEqual(["allow project/commands[0]", []]);
  });
});

describe("the rules of commands in a policy", () => {
  it("are none in the built-in one", () => {
    expect(BUILT_IN_POLICY.commands).toEqual({ restrict: [], allow: [] });
    expect(boundsOf(BUILT_IN_LAYER).lists["commands.allow"]).toBeUndefined();
  });

  it("stay exact when a layer asks without an exception", async () => {
    const { opinions } = await parsePolicy("version: 1\napproval: { exec: ask }", { file: "p", layer: "user" });
    expect(meet(boundsOf(opinions), UNBOUND).lists["commands.allow"]).toEqual({
      rule: "user/approval.exec",
      items: [],
    });
  });
});
