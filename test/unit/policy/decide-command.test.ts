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

  it.each([
    "su root --comm 'git push'",
    "su '-cgit push'",
    "script --comm 'git push'",
    "script '-cgit push' f",
    "runuser -u root git push",
    "/usr/lib/git-core/git-push",
    "git submodule foreach --recursive 'git push'",
    "git rebase --exec 'git push' main",
    "git rebase -x 'git push' main",
    "git bisect run git push",
    "setarch x86_64 -R git push",
    "setarch -R git push",
    "linux64 git push",
    "linux32 git push",
    "prlimit --nofile=5 git push",
    "choom -n 5 -- git push",
    "setpriv --reuid 1000 --clear-groups git push",
    "sg root 'git push'",
    "sg root -c 'git push'",
  ])("is found in %j", async (text) => {
    expect((await judge({ user: "commands: [{ match: git push, decision: deny }]" })).of(text)).toBe(
      "deny user/commands[0]",
    );
  });

  it.each([
    "git --shallow-file x push",
    "git filter-branch --tree-filter x",
    "env --unknown x git push",
    "env BASH_ENV=x bash -c ls",
    "enable -f ./x.so x",
    "export PROMPT_COMMAND=x",
    "git ~root",
  ])("may be hidden in %j", async (text) => {
    expect((await judge({ user: "commands: [{ match: git push, decision: deny }]" })).of(text)).toBe(
      "ask user/commands[0]",
    );
  });

  it.each([
    ["docker compose up", "docker compose -f x up", "ask"],
    ["docker compose up", "docker compose -f x ps", "allow"],
    ["npm run deploy", "npm run --silent deploy", "deny"],
    ["npm run deploy", "npm run --silent build", "allow"],
    ["gh pr merge", "gh pr -R a/b merge 1", "ask"],
    ["make deploy", "make -C x deploy", "ask"],
    ["make deploy", "make -j4 test", "allow"],
    ["cargo publish", "cargo --config x publish", "ask"],
    ["cargo publish", "cargo +nightly publish", "deny"],
    ["cargo publish", "cargo +nightly test", "allow"],
    ["pip install", "pip --proxy x install y", "ask"],
    ["git push", "git -c a.b=c log push", "allow"],
  ])("%j is compared over options with %j: %s", async (match, text, decided) => {
    const rules = await judge({ user: `commands: [{ match: ${match}, decision: deny }]` });
    expect(rules.of(text).split(" ")[0]).toBe(decided);
  });

  it.each([
    "ls -la",
    "npm test",
    "git status",
    "git -C x log",
    "git --no-pager -c color.ui=never diff --stat",
    'git commit -m "a $(date)"',
    'for f in *.c; do gcc "$f"; done',
    "cd ~/x && make -j4",
    "~/bin/tool ~/x",
    "source ~/.nvm/nvm.sh && nvm use 20",
    "bash scripts/build.sh --fast",
    "cat > x.txt <<'EOF'\n$(no) `command`\nEOF",
    "cat <<END-OF.x\nx $y\nEND-OF.x",
    "find . -name '*.ts' -exec grep -l x {} +",
    "git ls-files | xargs -0 -n1 wc -l",
    "printf '%s\\n' '`x`'",
    "export PATH=~/bin:$PATH ENV=test",
    "ENV=production CI=1 npm run build",
    "timeout --kill-after=5 60 npm test",
    "time npm test",
    '[ -f x ] && [[ $y == "z" ]] && echo $((1 + 2))',
    "echo $'a\\tb'",
    "sudo -E apt-get install -y x",
    "su postgres -c 'psql -l'",
    'while read -r line; do echo "$line"; done < x',
  ])("does not ask for what is ordinary: %j", async (text) => {
    expect((await judge({ user: "commands: [{ match: git push, decision: deny }]" })).of(text)).toBe(none);
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
