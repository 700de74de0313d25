import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../../src/policy/parse.ts";
import { UNENFORCED_KEYS, unenforcedIn } from "../../../src/policy/unenforced.ts";

const parse = (text: string) => parsePolicy(text, { file: "p.yaml", layer: "user" });
/** What is wrong with rules after `version: 1`. */
const problem = async (rules: string): Promise<string> => {
  const thrown = await parse(`version: 1\n${rules}`).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: "CONFIG_INVALID", exitCode: 2 });
  return (thrown as Error).message;
};

describe("a policy file", () => {
  it("gives every rule an id and its line", async () => {
    const { rules } = await parse(
      "version: 1\nworkspace:\n  readonly:\n    - infra/\n    - a.txt\nenv: { set: { CI: '1' } }\n",
    );
    expect(rules).toEqual([
      { id: "user/version", line: 1 },
      { id: "user/workspace.readonly", line: 3 },
      { id: "user/workspace.readonly[0]", line: 4 },
      { id: "user/workspace.readonly[1]", line: 5 },
      { id: "user/env.set", line: 6 },
      { id: "user/env.set.CI", line: 6 },
    ]);
  });

  it("has sizes in powers of 1024 and times in seconds", async () => {
    const { opinions } = await parse(
      "version: 1\nlimits: { memory: 4GB, tmp: 1.5MB, output: 4KB, minutes: 2, cpus: 0.5 }",
    );
    expect(Object.fromEntries(Object.entries(opinions.numbers).map(([key, { value }]) => [key, value]))).toEqual({
      "limits.memory": 4 * 1024 ** 3,
      "limits.tmp": 1.5 * 1024 ** 2,
      "limits.output": 4096,
      "limits.minutes": 120,
      "limits.cpus": 0.5,
    });
  });

  it("tells no opinion from the opinion that nothing is allowed", async () => {
    expect((await parse("version: 1")).opinions.hosts).toEqual({});
    const empty = { allow: { rule: "user/network.allow", items: [] } };
    expect((await parse("version: 1\nnetwork: { allow: [] }")).opinions.hosts).toEqual(empty);
    expect((await parse("version: 1\nnetwork: { allow: null }")).opinions.hosts).toEqual(empty);
    expect(Object.keys((await parse("version: 1\nnetwork: null")).opinions.hosts)).toEqual(["allow", "ask", "deny"]);
  });

  it("has hosts in one form, a denied one on every port", async () => {
    const { opinions } = await parse("version: 1\nnetwork: { allow: [BÜCHER.example.], deny: ['*.Evil.example'] }");
    expect([opinions.hosts.allow?.items[0]?.value, opinions.hosts.deny?.items[0]?.value]).toEqual([
      {
        host: "xn--bcher-kva.example",
        ports: [443],
        protocol: "auto",
        private: false,
        inspect: false,
        methods: "all",
        paths: "all",
      },
      {
        host: "*.evil.example",
        ports: "all",
        protocol: "tcp",
        private: false,
        inspect: false,
        methods: "all",
        paths: "all",
      },
    ]);
  });

  it("warns of a wildcard below which everybody can have a site", async () => {
    expect((await parse("version: 1\nnetwork: { allow: ['*.github.io'] }")).warnings).toHaveLength(1);
    expect((await parse("version: 1\nnetwork: { allow: ['*.example.com'] }")).warnings).toEqual([]);
  });
});

describe("a policy file that cannot be meant", () => {
  it.each([
    [
      "O-POL-07 a misspelt key",
      "workspace:\n  readOnly: [a]",
      "line 3: `readOnly` is no key of `workspace`; did you mean `readonly`?",
    ],
    ["O-POL-07 a misspelt section", "netwrok: {}", "line 2: `netwrok` is no key of a policy; did you mean `network`?"],
    ["O-POL-07 a key outside its section", "readonly: [a]", "did you mean `workspace.readonly`?"],
    ["O-POL-07 a key nobody would guess", "egress: { allow: [] }", "`egress` is no key of a policy"],
    [
      "O-POL-07 a text instead of a list",
      "network: { allow: example.com }",
      "`network.allow` is `example.com`; expected a list",
    ],
    ["O-POL-07 a word instead of a section", "network: on", "`network` is `on`; expected a map of keys"],
    ["O-POL-07 nothing instead of a section", "approval:", "`approval` is `null`; expected a map of keys"],
    [
      "a list of paths with a number",
      "workspace: { readonly: [a, 1] }",
      "`workspace.readonly[1]` is `1`; expected a text",
    ],
    ["a quoted number", "limits: { cpus: '2' }", "`limits.cpus` is `2`, a text; write 2 without quotes"],
    ["a size without a unit", "limits: { memory: '4' }", "no size"],
    ["less memory than a sandbox needs", "limits: { memory: 1MB }", "less than a sandbox needs, which is `64MB`"],
    ["more output than a result holds", "limits: { output: 2MB }", "is more than `1MB`"],
    ["less output than says anything", "limits: { output: 100B }", "less than a sandbox needs, which is `1KB`"],
    ["no processors", "limits: { cpus: 0 }", "expected at least 0.1"],
    ["a word that is none of three", "approval: { exec: aks }", "expected `allow` or `ask` or `deny`"],
    ["L-02 a key twice", "image: a\nimage: b", "line 3: this key is there twice"],
    ["L-02 two documents", "---\nversion: 1", "here a second document begins"],
    ["L-02 an alias", "image: &a x\nimages: [*a]", "line 3: the alias `*a` is not allowed"],
    ["L-02 a merge key", "<<: { image: x }", "line 2: a merge key"],
    ["L-02 an unknown tag", "image: !!js/function x", "line 2: Unresolved tag"],
    ["L-02 a key that is a list", "? [a]\n: 1", "a key is no text"],
    ["L-02 a key that is no property", "env: { set: { __proto__: x } }", "`__proto__` is no key"],
    ["L-02 nesting without end", `image: ${"[".repeat(200_000)}`, "Maximum call stack"],
    ["L-02 more than 1 MiB", `# ${"x".repeat(1024 * 1024)}`, "more than 1 MiB"],
    ["a path out of the workspace", "workspace: { readonly: [../x] }", "leaves the workspace by `..`"],
    ["an absolute path", "workspace: { readonly: [/etc] }", "is absolute"],
    ["a negated path", "workspace: { readonly: ['!a'] }", "there is no negation"],
    ["braces, which nothing expands", "workspace: { hidden: ['*.{pem,key}'] }", "which is not expanded"],
    ["a pattern of what can be written", "workspace: { writable: ['src/*'] }", "is a pattern; expected existing files"],
    ["opening what stays", "workspace: { unprotect: [.git/] }", "cannot be opened"],
    ["opening what is no entry", "workspace: { unprotect: [.vscode/x] }", "is no entry of the default protected list"],
    [
      "every host",
      "network:\n  allow:\n    - a.example\n    - '*'",
      "line 5: `network.allow[1]` is `*`, which is every host",
    ],
    ["every host below a top level", "network: { allow: ['*.com'] }", "every site below `.com`"],
    ["every host below a public suffix", "network: { allow: ['*.co.uk'] }", "below a public suffix"],
    ["a wildcard inside", "network: { allow: ['a.*.example.com'] }", "has a `*` inside"],
    ["a URL", "network: { allow: ['http://x'] }", "`http://x`, which is a URL"],
    [
      "a registry with more keys",
      "network:\n  allow:\n    - { registry: npm, ports: [80] }",
      "line 4: `ports` stands beside `registry` in `network.allow[0]`, and such a rule has no other key",
    ],
    [
      "a size that is a number",
      "network: { upload_limit: 50 }",
      "is `50`; expected a size with its unit, such as `50MB`",
    ],
    ["a size of nothing", "network: { upload_limit: 0 }", "is `0`; expected a size with its unit, such as `50MB`"],
    [
      "a size that is null",
      "network: { upload_limit: null }",
      "expected a size, such as `50MB`, or no such key at all",
    ],
    ["memory without a unit", "limits: { memory: 512 }", "is `512`; expected a size with its unit, such as `512MB`"],
    [
      "a port in quotes",
      'network: { allow: [{ host: a.example, ports: ["80"] }] }',
      "`network.allow[0].ports[0]` is `80`, a text; write 80 without quotes",
    ],
    ["a port that is none", "network: { allow: ['x:99999'] }", "has a port that is none"],
    ["an address", "network: { allow: [1.2.3.4] }", "is an address; hosts are names: use `forward`"],
    ["an address in one number", "network: { allow: ['0x7f000001'] }", "is an address"],
    ["an IPv6 address", "network: { allow: ['[::1]'] }", "is an address"],
    ["a network", "network: { allow: ['10.0.0.0/8'] }", "is an address"],
    ["an unknown key of a host", "network: { allow: [{ host: a.example, prots: [1] }] }", "did you mean `ports`?"],
    ["an unknown registry", "network: { allow: [{ registry: nmp }] }", "expected `npm` or"],
    ["a command of nothing", "commands: [{ match: ' ', decision: ask }]", "is empty; expected the first words"],
    ["two commands", "commands: [{ match: git push; ls, decision: ask }]", "is more than words"],
    ["a quote in a command", `commands: [{ match: 'git "push"', decision: ask }]`, "is more than words"],
    ["a pattern in a command", "commands: [{ match: git *, decision: ask }]", "is more than words"],
    ["a variable before a command", "commands: [{ match: A=1 git, decision: ask }]", "begins with a variable"],
    ["a variable that is no name", "env: { set: { 'a b': x } }", "no name of a variable"],
  ])("%s is an error that says what and where", async (_, rules, says) => {
    expect(await problem(rules)).toContain(says);
  });

  it.each([
    ["an empty file", "", "it is empty"],
    ["a file of comments", "# nothing\n", "it is empty"],
    ["a file without a version", "image: x", "`version` is missing; expected `1`"],
    ["a file of another version", "version: 2", "`version` is `2`; expected `1`"],
    ["a list", "- version: 1", "the file is a list"],
    ["a file with a directive", "%YAML 1.1\n---\nversion: 1", "directive"],
  ])("O-POL-07 %s is no policy", async (_, text, says) => {
    await expect(parse(text)).rejects.toThrow(says);
  });
});

describe("rules of a file that contradict each other", () => {
  it.each([
    [
      "workspace: { writable: [src, infra/a], readonly: [infra] }",
      "user/workspace.writable[1]: `infra/a` has no effect, user/workspace.readonly[0] forbids it",
    ],
    [
      "workspace: { unprotect: [.vscode], hidden: ['.vs*'] }",
      "user/workspace.unprotect[0]: `.vscode` has no effect, user/workspace.hidden[0] forbids it",
    ],
    [
      "network: { ask: [a.b.example.com], deny: ['*.example.com'] }",
      "user/network.ask[0]: `a.b.example.com` has no effect, user/network.deny[0] forbids it",
    ],
  ])("are named, and the one that forbids wins: %s", async (rules, says) => {
    expect((await parse(`version: 1\n${rules}`)).warnings).toEqual([says]);
  });

  it("are none where one only narrows the other", async () => {
    const rules =
      "workspace: { writable: [src], readonly: [src/gen] }\nnetwork: { allow: ['*.example.com'], deny: [x.example.com] }";
    expect((await parse(`version: 1\n${rules}`)).warnings).toEqual([]);
  });
});

describe("what nothing enforces yet", () => {
  /** Remove a line here only together with what enforces it. */
  const KEYS: [string, string][] = [
    ["workspace.mode: copy", "workspace: { mode: copy }"],
    ["workspace.git: private", "workspace: { git: private }"],
    ["workspace.cache: true", "workspace: { cache: true }"],
    ["limits.tokens", "limits: { tokens: 1 }"],
    ["limits.usd", "limits: { usd: 1 }"],
    ["limits.same_error", "limits: { same_error: 5 }"],
  ];

  it("is exactly this list", () => {
    expect(UNENFORCED_KEYS.toSorted()).toEqual(KEYS.map(([key]) => key).toSorted());
  });

  it.each(KEYS)("%s is found", async (key, rules) => {
    expect(unenforcedIn((await parse(`version: 1\n${rules}`)).opinions).map((found) => found.key)).toEqual([key]);
  });

  it("is not found in what asks for nothing or for what is the case", async () => {
    const rules =
      "network: { allow: [a.example], ask: [b.example], deny: [c.example], forward: [{ listen: 1, to: 'x:1' }], upload_limit: 1MB }\ncommands: [{ match: git push, decision: ask }]\nworkspace: { mode: bind, git: readonly, cache: false, hidden: [], readonly: [a], writable: [.] }";
    expect(unenforcedIn((await parse(`version: 1\n${rules}`)).opinions)).toEqual([]);
  });
});
