import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
});
