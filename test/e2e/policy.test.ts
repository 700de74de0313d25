import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { RunResult } from "../../src/session/result.ts";
import { cli, Place } from "../support/engine.ts";

async function protectedProject(): Promise<Place> {
  const place = await Place.create();
  const files: Record<string, string> = {
    "a/b/c.yml": "safe: true\n",
    ".github/workflows/ci.yml": "on: push\n",
    "spare/x": "",
    "free/x": "",
    ".glovebox/policy.yaml":
      "version: 1\nworkspace: { readonly: [a/b/c.yml, .github] }\nlimits: { memory: 64GB, pids: 100 }\ntools: { deny: [find] }\n",
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(place.root, path, ".."), { recursive: true });
    await writeFile(join(place.root, path), text);
  }
  return place;
}

async function play(place: Place, calls: object[], ...options: string[]) {
  // JSON is YAML.
  await writeFile(join(place.folder, "s.yaml"), JSON.stringify([{ calls }, { text: "Done." }]));
  const words = [
    "run",
    "--json",
    "--workspace",
    place.root,
    "--model",
    `scripted:${place.folder}/s.yaml`,
    ...options,
    "go",
  ];
  const { code, stdout, stderr } = await cli(words, { env: { GLOVEBOX_HOME: join(place.folder, "h") } });
  return { code, stderr, result: RunResult.parse(JSON.parse(stdout)) };
}

async function logOf({ session_file: file }: RunResult): Promise<{ type: string; [key: string]: unknown }[]> {
  const text = await readFile(file ?? "", "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("a project's policy in a run", () => {
  it("L-01 is tightened by it, and what it asks for beyond is dropped, shown and in the log", async () => {
    await using place = await protectedProject();
    const calls = [
      { find: { pattern: "*" } },
      { write: { path: "a/b/c.yml", content: "x" } },
      { write: { path: "a/b/d.yml", content: "x" } },
    ];
    const { result, stderr } = await play(place, calls);
    expect(result.denials.map(({ by, rule }) => [by, rule])).toEqual([
      ["policy", "project/tools.deny[0]"],
      ["containment", "project/workspace.readonly[0]"],
    ]);
    expect(await readFile(join(place.root, "a/b/d.yml"), "utf8")).toBe("x");
    expect(stderr).toContain(
      "policy: dropped project/limits.memory (68719476736): built-in/limits.memory keeps 4294967296",
    );
    const [record] = (await logOf(result)).filter(({ type }) => type === "policy");
    expect(record).toMatchObject({
      dropped: [{ rule: "project/limits.memory", by: "built-in/limits.memory" }],
      sources: [{ layer: "project", trusted: false }],
    });
    expect(result.sandbox?.selftest.filter(({ control }) => control.includes("c.yml"))).toMatchObject([
      { holds: true },
    ]);
    expect(result.sandbox?.selftest.find(({ control }) => control === "pids_limit")?.evidence).toBe("132");
  });

  it("L-12 decides on commands where nobody is there to ask, and says by which rule", async () => {
    await using place = await protectedProject();
    const rules = "commands: [{ match: touch a, decision: ask }, { match: rm, decision: deny }]";
    await writeFile(join(place.folder, "mine.yaml"), `version: 1\n${rules}\n`);
    const commands = [
      "touch free/y",
      "cd free && t'o'uch a",
      "x=a; touch $x",
      "bash -c 'rm free/x'",
      "echo 'rm free/x'",
    ];
    const calls = commands.map((command) => ({ bash: { command } }));
    const { code, result } = await play(place, calls, "--policy", join(place.folder, "mine.yaml"));
    expect([code, result.denials.map(({ by, rule }) => `${by} ${rule}`)]).toEqual([
      3,
      ["approval user/commands[0]", "approval user/commands[0]", "policy user/commands[1]"],
    ]);
    expect((await readdir(join(place.root, "free"))).toSorted()).toEqual(["x", "y"]);
  });

  it("L-16 is held by the same container whether calls are asked about or all answered with yes", async () => {
    await using place = await protectedProject();
    const calls = [{ bash: { command: "( echo x > a/b/c.yml ) 2>/dev/null; cat /proc/self/status | grep Cap" } }];
    const runs = [await play(place, calls), await play(place, calls, "--approve", "auto")];
    const [asked, auto] = runs.map(({ result }) => ({
      controls: result.sandbox?.selftest.map(({ control, holds }) => [control, holds]),
      policy: result.sandbox?.policy_hash,
      image: result.sandbox?.image_digest,
    }));
    expect(auto).toEqual(asked);
    const outputs = await Promise.all(
      runs.map(async ({ result }) => (await logOf(result)).find(({ type }) => type === "tool_result")?.["content"]),
    );
    expect(outputs[1]).toEqual(outputs[0]);
    expect(JSON.stringify(outputs[0])).toContain("CapEff:\\t0000000000000000");
    expect(await readFile(join(place.root, "a/b/c.yml"), "utf8")).toBe("safe: true\n");
  });

  it("with `--strict-policy` does not start when something would be dropped", async () => {
    await using place = await protectedProject();
    const { code, result } = await play(place, [{ ls: {} }], "--strict-policy");
    expect([code, result.error?.code, result.session_id]).toEqual([2, "CONFIG_INVALID", null]);
    await expect(stat(join(place.folder, "h/sessions"))).rejects.toThrow("ENOENT");
  });

  it("closes the workspace but for what is writable", async () => {
    await using place = await protectedProject();
    await writeFile(
      join(place.folder, "mine.yaml"),
      "version: 1\nworkspace: { writable: [free] }\nlimits: { call_seconds: 1 }\n",
    );
    const command =
      "touch new 2>/dev/null && echo new; touch free/y && echo free; mv free z 2>/dev/null && echo moved; sleep 5; echo late";
    const { result } = await play(
      place,
      [{ bash: { command } }, { write: { path: "n", content: "x" } }],
      "--policy",
      join(place.folder, "mine.yaml"),
    );
    const [output] = (await logOf(result)).filter(({ type }) => type === "tool_result");
    expect(JSON.stringify(output?.["content"])).toMatch(/"free\\n/);
    expect(output?.["status"]).toBe("timed_out");
    expect(result.denials.map(({ rule }) => rule)).toEqual(["user/workspace.writable"]);
    expect((await readdir(place.root)).toSorted()).toEqual([".github", ".glovebox", "a", "free", "spare"]);
  });

  it("hides what it names, warns of what git shows of it, and covers git where it says so", async () => {
    await using place = await Place.create();
    const files = { ".env": "KEY=1234567", "app/.env": "KEY=1234567", "app/main.py": "print(1)" };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(place.root, path, ".."), { recursive: true });
      await writeFile(join(place.root, path), text);
    }
    const git = (...words: string[]) => execa("git", words, { cwd: place.root });
    await git("init", "-q");
    await git("add", ".env", "app/main.py");
    const looks = {
      bash: { command: "cat .env app/.env; git show :.env 2>&1; wc -c < app/main.py; ls -A .git | wc -l" },
    };
    const seen: string[] = [];
    for (const more of ["", ", git: hidden"]) {
      await writeFile(join(place.folder, "mine.yaml"), `version: 1\nworkspace: { hidden: ["**/.env", keys]${more} }\n`);
      const { result, stderr } = await play(
        place,
        [looks, { read: { path: "app/.env" } }],
        "--policy",
        join(place.folder, "mine.yaml"),
      );
      const [output] = (await logOf(result)).filter(({ type }) => type === "tool_result");
      seen.push(JSON.stringify(output?.["content"]));
      expect(result.denials.map(({ by, rule }) => [by, rule])).toEqual([["containment", "user/workspace.hidden[0]"]]);
      expect(stderr).toContain("user/workspace.hidden[1]: `keys` does not exist; if it appears it is taken away");
      expect(stderr.includes("`.env` is visible through git")).toBe(more === "");
    }
    expect(seen[0]).toContain("KEY=1234567");
    expect(seen[1]).not.toContain("KEY");
    expect(seen[1]).toMatch(/not a git repository.*8\\n0/);
    expect(await readFile(join(place.root, ".env"), "utf8")).toBe("KEY=1234567");
  });

  it("FS-35 protects what a person's tools act upon, unless the person opens it", async () => {
    await using place = await Place.create();
    for (const folder of [".vscode", ".husky"]) await mkdir(join(place.root, folder));
    await writeFile(join(place.root, "x.code-workspace"), "{}");
    const tries = {
      bash: {
        command:
          "for f in .vscode/a .husky/a x.code-workspace plain; do echo x 2>/dev/null > $f && echo $f; done; true",
      },
    };
    await writeFile(join(place.folder, "mine.yaml"), "version: 1\nworkspace: { unprotect: [.vscode/] }\n");
    const { result } = await play(
      place,
      [tries, { write: { path: ".husky/b", content: "x" } }],
      "--policy",
      join(place.folder, "mine.yaml"),
    );
    const [output] = (await logOf(result)).filter(({ type }) => type === "tool_result");
    expect(output?.["content"]).toEqual([{ type: "text", text: ".vscode/a\nplain\n" }]);
    expect(result.denials.map(({ rule }) => rule)).toEqual([
      expect.stringMatching(/^built-in\/workspace\.protected\[\d+\]$/),
    ]);
  });

  it.each<[string, string, string]>([
    [
      "a pattern that means too much",
      "readonly: [many/*]",
      "user/workspace.readonly[0]: `many/*` means more than 1000 paths",
    ],
    [
      "a path behind a link",
      "hidden: [link/x]",
      "user/workspace.hidden[0]: `link/x` in the workspace is or lies behind a symbolic link",
    ],
    ["hiding everything", "hidden: [./]", "user/workspace.hidden[0] hides the whole workspace"],
    ["a writable path that is not there", "writable: [srcc]", "user/workspace.writable[0]: `srcc` does not exist"],
    ["a writable pattern", "writable: ['src/*']", "is a pattern; expected existing files or folders"],
    ["opening `.git`", "unprotect: [.git]", "`.git`, which cannot be opened"],
  ])("with %s does not start, and names the rule", async (_, rules, says) => {
    await using place = await Place.create();
    await mkdir(join(place.root, "many"));
    for (let index = 0; index < 1_001; index++) await writeFile(join(place.root, "many", String(index)), "");
    await symlink("many", join(place.root, "link"));
    await writeFile(join(place.folder, "mine.yaml"), `version: 1\nworkspace: { ${rules} }\n`);
    const { code, result } = await play(place, [{ ls: {} }], "--policy", join(place.folder, "mine.yaml"));
    expect([code, result.error?.message]).toEqual([2, expect.stringContaining(says)]);
    expect(result.turns).toBe(0);
  });
});
