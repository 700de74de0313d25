import { execFileSync } from "node:child_process";
import { mkdir, rename, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Secrets } from "../../../src/core/secrets.ts";
import { BUILT_IN_POLICY } from "../../../src/policy/policy.ts";
import { readProject } from "../../../src/session/policy-file.ts";
import { commandEnvOf, containerChoices, imageOf } from "../../../src/session/policy-use.ts";
import { hashOf, trust, untrust } from "../../../src/session/trust.ts";
import { PolicyPlace } from "../../support/policy-place.ts";

const PROJECT = "repo/.glovebox/policy.yaml";

describe("the policy of a run", () => {
  it("is the built-in one where there is no file", async () => {
    await using place = await PolicyPlace.create();
    const { policy, facts } = await place.load();
    expect(policy).toEqual(BUILT_IN_POLICY);
    expect(facts).toEqual({ sources: [], dropped: [], warnings: [] });
  });

  it("is the person's, tightened by the organisation and the project, each value with its rule", async () => {
    await using place = await PolicyPlace.create();
    await place.write("etc/policy.yaml", "limits: { memory: 2GB, pids: 256 }\napproval: { exec: ask }");
    await place.write("home/policy.yaml", "limits: { memory: 8GB, cpus: 4 }\ntools: { deny: [find] }");
    await place.write(PROJECT, "limits: { pids: 64 }\nworkspace: { readonly: [infra/] }\ntools: { deny: [grep] }");
    const { policy, facts } = await place.load({ maxTurns: 7 });
    expect(policy.limits).toMatchObject({ memoryBytes: 2 * 1024 ** 3, pids: 64, cpus: 4, turns: 7 });
    expect(policy.approval.exec).toBe("ask");
    expect(policy.deniedTools.map(({ rule }) => rule)).toEqual(["user/tools.deny[0]", "project/tools.deny[0]"]);
    expect(policy.readonly.filter(({ rule }) => !rule.startsWith("built-in/"))).toEqual([
      { value: "infra", rule: "project/workspace.readonly[0]" },
    ]);
    expect(policy.origins).toMatchObject({
      "limits.memory": "organisation/limits.memory",
      "limits.pids": "project/limits.pids",
      "limits.cpus": "user/limits.cpus",
      "limits.turns": "flag/max-turns",
    });
    expect(facts.dropped).toEqual([
      {
        rule: "user/limits.memory",
        asked: String(8 * 1024 ** 3),
        by: "organisation/limits.memory",
        kept: String(2 * 1024 ** 3),
      },
    ]);
    expect(facts.sources.map(({ layer, trusted }) => [layer, trusted])).toEqual([
      ["organisation", true],
      ["user", true],
      ["project", false],
    ]);
  });

  it("O-SEC-02 L-01 a project restricts and never widens: what it asks for beyond is dropped and named", async () => {
    await using place = await PolicyPlace.create();
    await place.write(
      "home/policy.yaml",
      "approval: { exec: ask }\nworkspace: { writable: [src] }\nenv: { pass: [LANG] }",
    );
    await place.write(
      PROJECT,
      "image: evil:1\nworkspace: { writable: [.] }\nenv: { pass: [LANG, SECRET], set: { A: b } }\nlimits: { memory: 64GB }\napproval: { exec: allow, write: ask }",
    );
    const { policy, facts } = await place.load();
    expect(facts.dropped.map(({ rule, by }) => [rule, by])).toEqual([
      ["project/limits.memory", "built-in/limits.memory"],
      ["project/approval.exec", "user/approval.exec"],
      ["project/env.pass[1]", "user/env.pass"],
      ["project/env.set.A", "built-in/env.set"],
      ["project/workspace.writable[0]", "user/workspace.writable"],
      ["project/image", "built-in/image"],
    ]);
    expect(policy).toMatchObject({
      approval: { exec: "ask", write: "ask" },
      image: "glovebox/base",
      writable: { items: [{ value: "src" }] },
      env: { pass: [{ value: "LANG" }], set: [] },
    });
    await expect(place.load({ strictPolicy: true })).rejects.toMatchObject({ code: "CONFIG_INVALID", exitCode: 2 });
  });

  it("`--strict-policy` lets through what drops nothing", async () => {
    await using place = await PolicyPlace.create();
    await place.write(PROJECT, "approval: { exec: ask }");
    expect((await place.load({ strictPolicy: true })).policy.approval.exec).toBe("ask");
  });

  it("takes the project's image from the person's list, and never one the organisation does not list", async () => {
    await using place = await PolicyPlace.create();
    await place.write("home/policy.yaml", "images: ['node:22', 'python:3']");
    await place.write(PROJECT, "image: node:22");
    expect(imageOf((await place.load()).policy)).toBe("node:22");
    await place.write("etc/policy.yaml", "images: [glovebox/base]");
    expect(imageOf((await place.load()).policy)).toBeUndefined();
    await place.write("etc/policy.yaml", "images: []");
    await expect(place.load()).rejects.toThrow("No image is allowed by every policy");
  });

  it("passes variables that are named and set, and sets what it says", async () => {
    await using place = await PolicyPlace.create({ LANG: "de_DE.UTF-8", OTHER: "x" });
    await place.write("home/policy.yaml", "env: { set: { CI: '1', EQ: 'a=b' }, pass: [LANG, ABSENT] }");
    const { policy } = await place.load();
    expect(commandEnvOf(policy, place.surroundings.env)).toEqual({ LANG: "de_DE.UTF-8", CI: "1", EQ: "a=b" });
  });

  it("lets package managers fail at once where no host can be reached", async () => {
    await using place = await PolicyPlace.create();
    const defaults = async () => containerChoices((await place.load()).policy, {}).commandDefaults;
    const none = { npm_config_fetch_retries: "0", PIP_RETRIES: "0", CARGO_NET_RETRY: "0" };
    expect(await defaults()).toEqual(none);
    await place.write("home/policy.yaml", "network: { ask: [a.example] }");
    expect(await defaults()).toEqual({});
    await place.write("home/policy.yaml", "network: { allow: [a.example] }");
    expect(await defaults()).toEqual({});
    await place.write(PROJECT, "network: { allow: [] }");
    expect(await defaults()).toEqual(none);
  });

  it("never passes a credential", async () => {
    await using place = await PolicyPlace.create({}, new Secrets({ OPENAI_API_KEY: "sk-0123456789" }));
    await place.write("home/policy.yaml", "env: { pass: [OPENAI_API_KEY] }");
    await expect(place.load()).rejects.toThrow("user/env.pass[0]: `OPENAI_API_KEY` is a credential");
  });

  it("`--policy` takes the place of the person's file, by path or by the name of a preset", async () => {
    await using place = await PolicyPlace.create();
    await place.write("home/policy.yaml", "limits: { pids: 64 }");
    await place.write("mine.yaml", "approval: { exec: deny }");
    const { policy } = await place.load({ policy: "./mine.yaml" });
    expect([policy.limits.pids, policy.approval.exec]).toEqual([512, "deny"]);
  });

  it("names a project's policy of a folder around the workspace, which is not used", async () => {
    await using place = await PolicyPlace.create();
    await place.write(".glovebox/policy.yaml", "approval: { exec: deny }");
    const { policy, facts } = await place.load();
    expect(policy.approval.exec).toBe("allow");
    expect(facts.warnings).toEqual([expect.stringContaining(".glovebox/policy.yaml` is not used")]);
  });
});

it("the output that a model is shown is a person's to set and a project's to tighten", async () => {
  await using place = await PolicyPlace.create();
  expect((await place.load()).policy.limits.outputBytes).toBe(50 * 1024);
  await place.write("home/policy.yaml", "limits: { output: 200KB }");
  expect((await place.load()).policy.limits.outputBytes).toBe(200 * 1024);
  await place.write(PROJECT, "limits: { output: 1MB }");
  const loose = await place.load();
  expect([loose.policy.limits.outputBytes, loose.facts.dropped]).toEqual([
    200 * 1024,
    [{ rule: "project/limits.output", asked: "1048576", by: "user/limits.output", kept: "204800" }],
  ]);
  await place.write(PROJECT, "limits: { output: 4KB }");
  const tight = await place.load();
  expect([tight.policy.limits.outputBytes, tight.policy.origins["limits.output"]]).toEqual([
    4096,
    "project/limits.output",
  ]);
});

describe("a policy that cannot be used", () => {
  it.each<[string, string, string]>([
    ["limits.usd", "limits: { usd: 5 }", "line 2: `limits.usd` is not enforced yet"],
    ["workspace.mode", "workspace:\n  mode: copy", "line 3: `workspace.mode: copy` is not enforced yet"],
  ])("%s is refused at the start, by name", async (_, rules, says) => {
    await using place = await PolicyPlace.create();
    await place.write(PROJECT, rules);
    const thrown = await place.load().catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: "CONFIG_INVALID", exitCode: 2 });
    expect((thrown as Error).message).toContain(says);
  });

  it("O-POL-07 a tool nobody knows in `tools.deny` is an error", async () => {
    await using place = await PolicyPlace.create();
    await place.write("home/policy.yaml", "tools: { deny: [bsah] }");
    await expect(place.load()).rejects.toThrow("`bsah` is no tool; did you mean `bash`?");
  });

  it.each<[string, (place: PolicyPlace) => Promise<string>, string]>([
    ["L-03 a named file that is missing", () => Promise.resolve("./absent.yaml"), "there is no such file"],
    ["L-03 a name that is neither preset nor file", () => Promise.resolve("strct"), "neither a preset nor a file"],
    ["O-POL-07 a directory", ({ root }) => Promise.resolve(root), "it is a directory"],
    ["L-02 a file of 100 MB", (place) => named(place, (path) => truncate(path, 100 * 1024 ** 2)), "more than 1 MiB"],
    ["L-02 a file without an end", () => Promise.resolve("/dev/zero"), "not a regular file"],
    ["L-02 a pipe", (place) => named(place, pipe), "not a regular file"],
    [
      "L-02 bytes that are no text",
      (place) => named(place, (path) => writeFile(path, Buffer.from([0xff, 0xfe]))),
      "not UTF-8",
    ],
  ])("%s is an error, never no policy", async (_, make, says) => {
    await using place = await PolicyPlace.create();
    await expect(place.load({ policy: await make(place) })).rejects.toThrow(says);
  });

  it.each<[string, (place: PolicyPlace) => Promise<unknown>, string]>([
    [
      "L-04 a link out of the project",
      (p) => swap(p, () => symlink("../../mine.yaml", join(p.folder, PROJECT))),
      "symbolic link",
    ],
    ["L-04 a link to nothing", (p) => swap(p, () => symlink("nothing", join(p.folder, PROJECT))), "symbolic link"],
    ["L-04 a folder that is a link", (p) => linkedFolder(p, "elsewhere"), "symbolic link"],
    ["L-04 a folder that is a link to nothing", (p) => symlink("nothing", join(p.root, ".glovebox")), "symbolic link"],
    ["O-POL-07 a directory", (p) => mkdir(join(p.folder, PROJECT), { recursive: true }), "it is a directory"],
    ["L-02 a pipe", (p) => swap(p, () => pipe(join(p.folder, PROJECT))), "not a regular file"],
    ["L-03 an empty file", (p) => swap(p, () => writeFile(join(p.folder, PROJECT), "")), "it is empty"],
  ])("%s as a project's policy is an error, never no policy", async (_, make, says) => {
    await using place = await PolicyPlace.create();
    await place.write("mine.yaml", "limits: { pids: 64 }");
    await make(place);
    await expect(place.load()).rejects.toThrow(says);
  });

  it("L-04 the person's own file may be a link, but not to nothing", async () => {
    await using place = await PolicyPlace.create();
    await place.write("mine.yaml", "limits: { pids: 64 }");
    await mkdir(place.surroundings.home.root);
    await symlink(join(place.folder, "mine.yaml"), join(place.folder, "home/policy.yaml"));
    expect((await place.load()).policy.limits.pids).toBe(64);
    await rename(join(place.folder, "mine.yaml"), join(place.folder, "gone.yaml"));
    await expect(place.load()).rejects.toThrow("link to nothing");
  });
});

describe("a project's policy that the person trusts", () => {
  it("counts as their own words, until one byte of it changes", async () => {
    await using place = await PolicyPlace.create();
    await place.write(PROJECT, "limits: { pids: 1024 }");
    const { home } = place.surroundings;
    const shown = await readProject(place.root);
    if (!shown) throw new Error("There is a file");
    expect((await place.load()).policy.limits.pids).toBe(512);
    await trust(home, shown);
    const { policy, facts } = await place.load();
    expect([policy.limits.pids, facts.dropped, facts.sources[0]?.trusted]).toEqual([1024, [], true]);
    expect(facts.sources[0]?.sha256).toBe(hashOf(shown.bytes));
    await place.write(PROJECT, "limits: { pids: 1025 }");
    expect((await place.load()).policy.limits.pids).toBe(512);
    await place.write(PROJECT, "limits: { pids: 1024 }");
    expect(await untrust(home, shown.file)).toBe(true);
    expect((await place.load()).policy.limits.pids).toBe(512);
    expect(await untrust(home, shown.file)).toBe(false);
  });

  it("stays below the organisation", async () => {
    await using place = await PolicyPlace.create();
    await place.write("etc/policy.yaml", "limits: { pids: 100 }");
    await place.write(PROJECT, "limits: { pids: 1024 }");
    const shown = await readProject(place.root);
    if (shown) await trust(place.surroundings.home, shown);
    expect((await place.load()).policy.limits.pids).toBe(100);
  });

  it("is trusted by no file that somebody else made up", async () => {
    await using place = await PolicyPlace.create();
    await place.write(PROJECT, "limits: { pids: 1024 }");
    await mkdir(place.surroundings.home.root);
    await writeFile(join(place.surroundings.home.root, "trust.yaml"), "trusted: all\n");
    await expect(place.load()).rejects.toThrow("trust.yaml");
  });
});

async function named(place: PolicyPlace, make: (path: string) => Promise<unknown>): Promise<string> {
  const path = join(place.folder, "made.yaml");
  await writeFile(path, "");
  await make(path);
  return path;
}

async function pipe(path: string): Promise<void> {
  execFileSync("rm", ["-f", path]);
  execFileSync("mkfifo", [path]);
}

async function swap(place: PolicyPlace, make: () => Promise<unknown>): Promise<void> {
  await mkdir(join(place.root, ".glovebox"));
  await make();
}

async function linkedFolder(place: PolicyPlace, name: string): Promise<void> {
  await mkdir(join(place.folder, name));
  await writeFile(join(place.folder, name, "policy.yaml"), "version: 1\n");
  await symlink(join("..", name), join(place.root, ".glovebox"));
}
