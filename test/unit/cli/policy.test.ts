import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { main } from "../../../src/cli/program.ts";
import { type FakeIo, fakeIo } from "./fake-io.ts";

/** A folder `repo` with a project's policy of these rules. */
async function withProject(rules: string): Promise<FakeIo> {
  const io = fakeIo();
  await mkdir(join(io.cwd, "repo/.glovebox"), { recursive: true });
  await writeFile(join(io.cwd, "repo/.glovebox/policy.yaml"), `version: 1\n${rules}\n`);
  return io;
}

const policy = (io: FakeIo, ...words: string[]): Promise<number> => main(["policy", ...words], io);
const IN_REPO = ["--workspace", "repo"];

describe("`policy show`", () => {
  it("prints values, the rule of each, and what was dropped, and is no error for it", async () => {
    const io = await withProject("limits: { memory: 64GB, pids: 64, output: 4KB }");
    expect(await policy(io, "show", ...IN_REPO)).toBe(0);
    expect(io.stdout.text).toMatch(/limits\.output +4096 +project\/limits\.output/);
    expect(io.stdout.text).toMatch(/limits\.pids +64 +project\/limits\.pids/);
    expect(io.stdout.text).toMatch(/limits\.memory +4294967296 +built-in\/limits\.memory/);
    expect(io.stdout.text).toContain(
      "dropped project/limits.memory (68719476736): built-in/limits.memory keeps 4294967296",
    );
  });

  it("is one object for programs, numbers as numbers", async () => {
    const io = await withProject("limits: { minutes: 5 }\nworkspace: { readonly: [infra] }");
    expect(await policy(io, "show", "--json", ...IN_REPO)).toBe(0);
    const shown = JSON.parse(io.stdout.text);
    expect(Object.keys(shown)).toEqual(["version", "policy", "origins", "sources", "dropped", "warnings"]);
    expect(shown.policy.limits).toMatchObject({ minutes: 5, memory: 4 * 1024 ** 3 });
    expect(shown.origins["workspace.readonly"]).toMatchObject({
      ".git": "built-in/workspace.protected[0]",
      ".glovebox": "built-in/workspace.protected[1]",
      infra: "project/workspace.readonly[0]",
    });
    expect([shown.policy.network.allow, shown.dropped]).toEqual([[], []]);
  });

  it("prints the rules of commands", async () => {
    const io = await withProject("commands: [{ match: git push, decision: deny }, { match: ls, decision: allow }]");
    await mkdir(join(io.cwd, "home"));
    await writeFile(join(io.cwd, "home/policy.yaml"), "version: 1\napproval: { exec: ask }\n");
    expect(await policy(io, "show", ...IN_REPO)).toBe(0);
    expect(io.stdout.text).toMatch(/commands +deny git push +project\/commands\[0\]/);
    expect(io.stdout.text).toContain("dropped project/commands[1] (ls)");
  });
});

describe("`policy show` of hosts", () => {
  const RULES =
    'network: { allow: [a.example.com, { host: api.example.com, ports: [80, 443], inspect: true, methods: [GET], paths: ["/public/**"] }, { host: db.example.com, ports: [5432], protocol: tcp, private: true }], ask: [g.example.com], deny: ["*.example"] }';

  it("prints ports, protocol and what of requests is let through", async () => {
    const io = fakeIo();
    await mkdir(join(io.cwd, "repo"));
    await mkdir(join(io.cwd, "home"));
    await writeFile(join(io.cwd, "home/policy.yaml"), `version: 1\n${RULES}\n`);
    expect(await policy(io, "show", "--json", "--allow-host", "x.example.com:8080", ...IN_REPO)).toBe(0);
    const shown = JSON.parse(io.stdout.text);
    expect(shown.policy.network).toEqual({
      allow: [
        "x.example.com:8080",
        "a.example.com",
        "api.example.com:80,443 (inspect, GET, /public/**)",
        "db.example.com:5432 (tcp, private)",
      ],
      ask: ["g.example.com"],
      deny: ["*.example"],
      forward: [],
    });
    expect(shown.origins["network.allow"]).toMatchObject({
      "x.example.com:8080": "flag/allow-host[0]",
      "db.example.com:5432 (tcp, private)": "user/network.allow[2]",
    });
  });

  it("L-07 says that a project without hosts drops those of the command line", async () => {
    const io = await withProject("network: { allow: [] }");
    expect(await policy(io, "show", "--allow-host", "a.example.com", ...IN_REPO)).toBe(0);
    expect(io.stdout.text).toContain(
      "dropped flag/allow-host[0] (a.example.com): project/network.allow keeps no connection without it",
    );
    expect(io.stdout.text).toMatch(/network\.allow +nothing/);
  });
});

describe("`policy show` at a terminal", () => {
  it("cuts long lists to its width, and nothing where a program reads", async () => {
    const hosts = Array.from({ length: 60 }, (_, index) => `h${index}.example.com`);
    const io = await withProject(`network: { allow: [${hosts.join(", ")}] }`);
    io.stdout.isTTY = true;
    io.stdout.columns = 80;
    expect(await policy(io, "show", ...IN_REPO)).toBe(0);
    const table = io.stdout.text.split("\n\n", 1)[0] ?? "";
    expect(table.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(table).toMatch(/workspace\.readonly +\*\.code-workspace, .*…/);
    io.stdout.text = "";
    io.stdout.isTTY = false;
    expect(await policy(io, "show", ...IN_REPO)).toBe(0);
    expect(io.stdout.text).not.toContain("…");
  });
});

describe("`policy check`", () => {
  it("counts what is said, not the lists it stands in", async () => {
    const io = await withProject("limits: { pids: 64 }\nnetwork: { allow: [a.example, b.example], ask: [] }");
    expect(await policy(io, "check", "repo/.glovebox/policy.yaml")).toBe(0);
    expect(io.stdout.text).toBe("repo/.glovebox/policy.yaml is a policy with 4 rules, all of it enforced\n");
  });

  it("says that a file is a policy, or where it is not", async () => {
    const io = await withProject("limits: { pids: 64 }");
    expect(await policy(io, "check", "repo/.glovebox/policy.yaml")).toBe(0);
    await writeFile(join(io.cwd, "bad.yaml"), "version: 1\nlimits: { pid: 64 }\n");
    expect(await policy(io, "check", "bad.yaml")).toBe(2);
    expect(io.stderr.text).toContain("Policy `bad.yaml`, line 2: `pid` is no key of `limits`; did you mean `pids`?");
  });

  it("L-03 a missing file is an error", async () => {
    const io = fakeIo();
    expect(await policy(io, "check", "absent.yaml")).toBe(2);
  });
});

describe("`policy explain`", () => {
  it.each([
    ["path", "infra/x.tf", "readonly: project/workspace.readonly[0] (", 0],
    ["path", "src/a.ts", "writable: built-in/workspace.writable[0]", 0],
    ["path", "../x", "not mounted: built-in/container.root", 0],
    ["tool", "grep", "deny: project/tools.deny[0]", 0],
    ["tool", "bash", "ask: project/approval.exec", 0],
    ["effect", "write", "allow: built-in/approval.write", 0],
    ["host", "example.com:80", "deny: built-in/network.allow", 0],
    ["command", "cd x && git -C y push", "ask: project/commands[0] (", 0],
    ["command", "sudo npm publish", "deny: project/commands[1] (", 0],
    ["command", "ls", "ask: project/approval.exec", 0],
    ["command", " ", "The command is empty", 2],
    ["tool", "bsah", "Did you mean `bash`?", 2],
    ["pth", "x", "`path`", 2],
    ["host", "http://x", "is a URL", 2],
    ["host", "a.example:0", "has a port that is none", 2],
    ["host", "*.example", "is a pattern; expected one host", 2],
    ["host", "0x7f.1", "is an address", 2],
  ])("of %s %s is %s", async (kind, value, says, code) => {
    const io = await withProject(
      "workspace: { readonly: [infra] }\ntools: { deny: [grep] }\napproval: { exec: ask }\ncommands: [{ match: git push, decision: ask }, { match: npm publish, decision: deny }]",
    );
    expect(await policy(io, "explain", kind, value, ...IN_REPO)).toBe(code);
    expect(io.stdout.text + io.stderr.text).toContain(says);
  });
});

describe("`policy explain host`", () => {
  const RULES =
    'network: { allow: [a.example.com, { host: db.example.com, ports: [5432], protocol: tcp }, { host: api.example.com, inspect: true, methods: [GET], paths: ["/public/**"] }, { host: plain.example.com, ports: [80], methods: [GET] }], ask: [{ host: g.example.com, ports: [22], protocol: ssh }] }';

  it.each([
    ["A.example.com.", "allow: user/network.allow[0] (", "; TLS for this name passes unopened, and plain HTTP"],
    ["b.example.com", "deny: user/network.allow (", ")"],
    ["b.example.com:8443", "allow: flag/allow-host[0]", "; TLS for this name passes unopened, and plain HTTP"],
    ["db.example.com:5432", "allow: user/network.allow[1] (", "; any bytes pass unseen"],
    ["g.example.com:22", "ask: user/network.ask[0] (", "; SSH passes"],
    ["api.example.com", "allow: user/network.allow[2] (", "opened and each request judged, plain HTTP as well"],
    ["GET api.example.com/public/a", "allow: user/network.allow[2] (", "plain HTTP as well"],
    ["POST api.example.com/public/a", "deny: user/network.allow (", "plain HTTP as well"],
    ["GET api.example.com/private", "deny: user/network.allow (", "plain HTTP as well"],
    ["GET http://plain.example.com/x?y=1", "allow: user/network.allow[3] (", "TLS refused"],
    ["GET https://plain.example.com:80/x", "deny: user/network.allow (", "TLS refused"],
    ["GET http://a.example.com/x", "deny: user/network.allow (", ")"],
    ["GET https://a.example.com", "allow: user/network.allow[0] (", "passes unopened, and plain HTTP"],
    ["POST a.example.com/x", "allow: user/network.allow[0] (", "passes unopened, and plain HTTP"],
    ["plain.example.com:80", "allow: user/network.allow[3] (", "; each request of plain HTTP is judged, TLS refused"],
  ])("of %s says how a connection is treated", async (value, begins, ends) => {
    const io = fakeIo();
    await mkdir(join(io.cwd, "repo"));
    await mkdir(join(io.cwd, "home"));
    await writeFile(join(io.cwd, "home/policy.yaml"), `version: 1\n${RULES}\n`);
    expect(await policy(io, "explain", "host", value, "--allow-host", "b.example.com:8443", ...IN_REPO)).toBe(0);
    const [line = ""] = io.stdout.text.split("\n");
    expect([line.startsWith(begins), line.endsWith(ends), line]).toEqual([true, true, line]);
  });

  it("says what could be added to what is denied, and of what is allowed that its addresses are looked at", async () => {
    const io = fakeIo();
    await mkdir(join(io.cwd, "repo"));
    expect(await policy(io, "explain", "host", "a.example", ...IN_REPO)).toBe(0);
    expect(io.stdout.text).toBe(
      'deny: built-in/network.allow\nwhat a person can do: add "a.example" to `network.allow`\n',
    );
    expect(await policy(io, "explain", "host", "a.example", "--allow-host", "a.example", ...IN_REPO)).toBe(0);
    expect(io.stdout.text).toMatch(/\nits addresses are checked when it is dialled: private ones only with .*\n$/);
  });

  it("is one object for programs", async () => {
    const io = fakeIo();
    await mkdir(join(io.cwd, "repo"));
    expect(await policy(io, "explain", "host", "a.example", "--allow-host", "a.example", "--json", ...IN_REPO)).toBe(0);
    expect(JSON.parse(io.stdout.text)).toEqual({
      version: 1,
      kind: "host",
      value: "a.example",
      decision: "allow",
      rule: "flag/allow-host[0]",
      treatment: { protocol: "auto", tls: "sealed" },
      place: null,
    });
  });
});

describe("`policy init`", () => {
  it("writes a policy that checks out, and never over one", async () => {
    const io = fakeIo();
    await mkdir(join(io.cwd, "repo"));
    expect(await policy(io, "init", ...IN_REPO)).toBe(0);
    expect(await policy(io, "check", "repo/.glovebox/policy.yaml")).toBe(0);
    expect(await policy(io, "init", ...IN_REPO)).toBe(2);
    expect(await policy(io, "init", "--user")).toBe(0);
    expect((await stat(join(io.cwd, "home/policy.yaml"))).mode & 0o777).toBe(0o600);
  });
});

describe("`policy trust`", () => {
  const RULES = "limits: { pids: 1024 } # \u001b[2J\u202e";

  it("L-13 without a terminal nobody trusts anything, whatever is piped in", async () => {
    const io = await withProject(RULES);
    io.stdin.end("yes\n");
    expect(await policy(io, "trust", ...IN_REPO)).toBe(2);
    await expect(stat(join(io.cwd, "home/trust.yaml"))).rejects.toThrow("ENOENT");
  });

  it.each([
    ["yes", 0],
    ["no", 1],
    ["", 1],
  ])("shows the file harmlessly and takes %j from the person", async (answer, code) => {
    const io = await withProject(RULES);
    io.stdin.isTTY = true;
    io.stderr.isTTY = true;
    const ended = policy(io, "trust", ...IN_REPO);
    await vi.waitFor(() => expect(io.stderr.text).toContain("yes or no: "));
    expect(io.stderr.text).toContain("limits: { pids: 1024 } # \\x1b[2J\\u202e");
    expect(io.stderr.text).toContain("project/limits.pids (1024): built-in/limits.pids keeps 512");
    io.stdin.write(`${answer}\r`);
    expect(await ended).toBe(code);
    if (code !== 0) return;
    const file = join(io.cwd, "home/trust.yaml");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "utf8")).toContain("repo/.glovebox/policy.yaml");
    expect(await policy(io, "untrust", ...IN_REPO)).toBe(0);
    expect(await readFile(file, "utf8")).toContain("trusted: []");
  });

  it("says what a project gets by trust and what it never does", async () => {
    const io = await withProject(
      "network: { allow: [a.example, { host: b.example, private: true }], forward: [{ listen: 5, to: '127.0.0.1:5' }] }\nsandbox: { ptrace: true }",
    );
    io.stdin.isTTY = true;
    io.stderr.isTTY = true;
    const ended = policy(io, "trust", ...IN_REPO);
    await vi.waitFor(() => expect(io.stderr.text).toContain("yes or no: "));
    io.stdin.write("no\r");
    expect(await ended).toBe(1);
    const said = io.stderr.text.slice(io.stderr.text.indexOf("Without your trust"), io.stderr.text.indexOf("Take it"));
    expect(said.split(/\r?\n/).slice(0, -1)).toEqual([
      "Without your trust it does not get:",
      "  project/network.allow[0] (a.example): built-in/network.allow keeps no connection without it",
      "With your trust it does not get either:",
      "  project/sandbox.ptrace (true): built-in/sandbox.ptrace keeps false",
      "  project/network.forward[0] (5 to 127.0.0.1:5): built-in/network.forward keeps nothing",
      "  project/network.allow[1] (b.example (private)): built-in/network.private keeps public addresses only",
    ]);
  });

  it("refuses what is no policy before it asks", async () => {
    const io = await withProject("limits: { pids: many }");
    io.stdin.isTTY = true;
    io.stderr.isTTY = true;
    expect(await policy(io, "trust", ...IN_REPO)).toBe(2);
  });
});
