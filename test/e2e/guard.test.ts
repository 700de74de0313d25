import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, link, lstat, mkdir, readdir, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { uuidv7 } from "../../src/core/ids.ts";
import type { Quarantined } from "../../src/core/quarantine.ts";
import type { RunResult } from "../../src/session/result.ts";
import { cli, Place, startCli } from "../support/engine.ts";

type Home = { GLOVEBOX_HOME: string };

/** A place with a home of its own, which is where sessions and what they keep are. */
async function placeWithHome(files: Record<string, string> = {}): Promise<{ place: Place; env: Home }> {
  const place = await Place.create();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(place.root, path, ".."), { recursive: true });
    await writeFile(join(place.root, path), text);
  }
  const home = join(place.folder, "home");
  await mkdir(home);
  return { place, env: { GLOVEBOX_HOME: home } };
}

async function run(place: Place, env: Home, script: string, more: string[] = []) {
  const file = join(place.folder, "script.yaml");
  await writeFile(file, script);
  const args = ["run", "--json", "--workspace", place.root, "--model", `scripted:${file}`, ...more, "go"];
  const { code, stdout, stderr } = await cli(args, { env });
  return { code, stderr, result: JSON.parse(stdout) as RunResult };
}

function calls(...commands: string[]): string {
  const turns = commands.map((command) => `- calls: [ { bash: { command: ${JSON.stringify(command)} } } ]\n`);
  return `${turns.join("")}- text: "Done."\n`;
}

/** Every name below a folder with what it is, and the hash of what it holds. */
async function inventory(folder: string): Promise<string[]> {
  const names = (await readdir(folder, { recursive: true })).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const { mode, uid, gid, mtimeMs, isFile, isSymbolicLink } = await lstat(path).then((stats) => ({
        ...stats,
        isFile: stats.isFile(),
        isSymbolicLink: stats.isSymbolicLink(),
      }));
      const content = isFile
        ? createHash("sha256")
            .update(await readFile(path))
            .digest("hex")
        : isSymbolicLink
          ? await readlink(path)
          : "";
      return [name, mode, uid, gid, isFile ? mtimeMs : "", content].join(" ");
    }),
  );
}

const facts = ({ path, kind, rule }: Quarantined): string[] => [path, kind, rule];

describe("what appears at a protected path that did not exist", () => {
  const MAKE = "mkdir -p .vscode && echo '{\"run\":1}' > .vscode/tasks.json; echo 'export A=1' > .envrc; ls -A | wc -l";

  it("FS-39 is moved out after the call, a pattern and a repository at the end, and can be brought back", async () => {
    const before = { "a.txt": "a\n", "old/own.secret": "own\n", "old/.env": "KEY=1\n" };
    const { place, env } = await placeWithHome(before);
    await using _ = place;
    const policy = join(place.folder, "policy.yaml");
    await writeFile(policy, 'version: 1\nworkspace: { readonly: ["**/*.secret"], hidden: ["**/.env"] }\n');
    const git = "git -c user.name=a -c user.email=a@example.com";
    const script = calls(
      MAKE,
      "ls -A; mkdir -p deep && echo x | tee deep/one.secret deep/.env",
      `git init -q . && git add a.txt && ${git} commit -qm first && git log --oneline`,
      "git log --oneline | wc -l; ls -A",
    );
    const { code, stderr, result } = await run(place, env, script, ["--policy", policy]);
    expect([code, result.outcome]).toEqual([0, "completed"]);
    expect(result.denials.map(({ by, rule }) => [by, rule])).toEqual([
      ["containment", expect.stringMatching(/^built-in\/workspace\.protected/)],
    ]);
    expect(result.denials[0]?.enable_with).toContain(`glovebox apply ${result.session_id}`);
    expect(result.quarantined.map(facts).toSorted()).toEqual([
      [".envrc", "appeared", expect.any(String)],
      [".git", "git", expect.any(String)],
      [".vscode", "appeared", expect.any(String)],
      ["deep/.env", "appeared", "user/workspace.hidden[0]"],
      ["deep/one.secret", "appeared", "user/workspace.readonly[0]"],
    ]);
    expect((await readdir(place.root, { recursive: true })).toSorted()).toEqual([
      ...["a.txt", "deep", "old", "old/.env", "old/own.secret"],
    ]);
    for (const [path, text] of Object.entries(before))
      expect(await readFile(join(place.root, path), "utf8")).toBe(text);
    expect(stderr).toContain(".vscode appeared and was moved out of the workspace");

    const shown = await cli(["sessions", "show", result.session_id ?? ""], { env });
    expect(shown.stdout).toContain(".envrc was moved out of the workspace");
    expect(shown.stdout).toContain(".git was made by a command");
    // The repository worked until the end.
    expect(shown.stdout).toMatch(/^ +1$/m);

    const id = result.session_id ?? "";
    const listed = JSON.parse((await cli(["apply", id, "--json"], { env })).stdout);
    expect(listed.items.map(({ path }: Quarantined) => path)).toEqual([
      ...[".envrc", ".git", ".vscode", "deep/.env", "deep/one.secret"],
    ]);
    const unattended = await cli(["apply", id, ".envrc"], { env });
    expect([unattended.code, unattended.stdout]).toEqual([2, expect.stringContaining("│ export A=1")]);
    expect(existsSync(join(place.root, ".envrc"))).toBe(false);
    for (const path of [".envrc", ".vscode/", ".git"]) {
      expect(await cli(["apply", id, path, "--yes"], { env })).toMatchObject({ code: 0 });
    }
    expect(await readFile(join(place.root, ".envrc"), "utf8")).toBe("export A=1\n");
    expect(await readFile(join(place.root, ".vscode/tasks.json"), "utf8")).toBe('{"run":1}\n');
    const log = await execa("git", ["-c", "safe.directory=*", "log", "--format=%s"], { cwd: place.root });
    expect(log.stdout).toBe("first");
    const again = await cli(["apply", id, ".envrc", "--yes"], { env });
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("exists")]);
    const unknown = await cli(["apply", id, "a.txt", "--yes"], { env });
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("has kept nothing of")]);
  });

  it("FS-39 is not created by the file tools, nor by a pattern, and what is beside it is", async () => {
    const { place, env } = await placeWithHome();
    await using _ = place;
    const write = (path: string): string => `- calls: [ { write: { path: ${JSON.stringify(path)}, content: "x" } } ]\n`;
    const paths = [".npmrc", ".github/workflows/ci.yml", "my.code-workspace", ".github/other.yml"];
    const { result } = await run(place, env, `${paths.map(write).join("")}- text: "Done."\n`);
    expect(result.denials.map(({ tool, rule }) => [tool, rule.replace(/\[\d+\]$/, "")])).toEqual([
      ["write", "built-in/workspace.protected"],
      ["write", "built-in/workspace.protected"],
      ["write", "built-in/workspace.protected"],
    ]);
    expect(result.quarantined).toEqual([]);
    expect(await readdir(place.root, { recursive: true })).toEqual([".github", ".github/other.yml"]);
  });

  it.each(["run", "gc"])("FS-39 is moved out by the next %s after a run that was killed", async (next) => {
    const { place, env } = await placeWithHome({ "a.txt": "a\n" });
    await using _ = place;
    await writeFile(join(place.folder, "s.yaml"), calls(`${MAKE}; sleep 600`));
    const started = startCli(
      ["run", "--events", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"],
      { env },
    );
    await expect.poll(() => existsSync(join(place.root, ".envrc")), { timeout: 20_000 }).toBe(true);
    const id = JSON.parse(started.stdout().split("\n")[0] ?? "").id as string;
    started.child.kill("SIGKILL");
    await started.ended;

    const after = next === "gc" ? await cli(["gc"], { env }) : await run(place, env, calls("ls -A"));
    const said = "stdout" in after ? after.stdout : after.stderr;
    expect(after.code).toBe(0);
    expect(said).toContain(id);
    expect(said).toContain(".vscode appeared and was moved out of the workspace");
    expect(await readdir(place.root)).toEqual(["a.txt"]);
    expect(await cli(["apply", id, ".envrc", "--yes"], { env })).toMatchObject({ code: 0 });
    expect(await readFile(join(place.root, ".envrc"), "utf8")).toBe("export A=1\n");
    expect((await cli(["gc"], { env })).stdout).not.toContain(id);
    expect(existsSync(join(place.root, ".envrc"))).toBe(true);
  });
});

/** A run that has made a repository and `.envrc`, and then died; gives its session's id. */
async function killedRun(place: Place, env: Home): Promise<string> {
  await writeFile(join(place.folder, "s.yaml"), calls("git init -q . && echo x > .envrc; sleep 600"));
  const args = ["run", "--events", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"];
  const started = startCli(args, { env });
  await expect.poll(() => existsSync(join(place.root, ".envrc")), { timeout: 20_000 }).toBe(true);
  started.child.kill("SIGKILL");
  await started.ended;
  return JSON.parse(started.stdout().split("\n")[0] ?? "").id;
}

async function ownRepository(root: string): Promise<void> {
  await mkdir(root);
  await execa("git", ["init", "-q", root]);
  await writeFile(join(root, ".envrc"), "own\n");
}

describe("another folder in the place of the workspace", () => {
  it("FS-39 keeps its own files after a run that was killed, which is said once", async () => {
    const { place, env } = await placeWithHome();
    await using _ = place;
    const id = await killedRun(place, env);
    await rm(place.root, { recursive: true });
    await ownRepository(place.root);
    const exec = () => cli(["exec", "--workspace", place.root, "--", "ls", "-A"], { env });
    const first = await exec();
    expect([first.code, first.stdout]).toEqual([0, ".envrc\n.git\n"]);
    expect(first.stderr).toContain(`session ${id}: \`${place.root}\` is not the folder the session worked in`);
    const second = await exec();
    expect([second.code, second.stdout]).toEqual([0, ".envrc\n.git\n"]);
    expect(second.stderr).not.toContain(id);
  });

  it("FS-39 keeps its own files when it came during the run, which is said", async () => {
    const { place, env } = await placeWithHome();
    await using _ = place;
    const script = calls("git init -q . && touch made; while [ ! -e go-on ]; do sleep 0.1; done");
    const running = run(place, env, script);
    await expect.poll(() => existsSync(join(place.root, "made")), { timeout: 20_000 }).toBe(true);
    const moved = join(place.folder, "moved");
    await rename(place.root, moved);
    await ownRepository(place.root);
    await writeFile(join(moved, "go-on"), "");
    const { code, result } = await running;
    expect([code, result.error?.code, result.quarantined]).toEqual([5, "SANDBOX_LOST", []]);
    expect(result.error?.message).toContain(`the workspace is no longer at \`${place.root}\``);
    expect((await readdir(place.root)).toSorted()).toEqual([".envrc", ".git"]);
    expect(await readFile(join(place.root, ".envrc"), "utf8")).toBe("own\n");
    expect((await readdir(moved)).toSorted()).toEqual([".git", "go-on", "made"]);
  });
});

describe("two recoveries of one session at once", () => {
  it.each(["gc", "exec"])("FS-39 move out what it left once, and exec and %s go on", async (other) => {
    const { place, env } = await placeWithHome({ "a.txt": "a\n" });
    await using _ = place;
    const id = await killedRun(place, env);
    const [folder = ""] = await readdir(join(env.GLOVEBOX_HOME, "sessions"));
    const sessions = join(env.GLOVEBOX_HOME, "sessions", folder);
    await mkdir(join(sessions, `${id}.quarantine`), { recursive: true, mode: 0o700 });
    await writeFile(join(sessions, `${id}.quarantine/0123.part`), "half");

    const exec = ["exec", "--workspace", place.root, "--", "ls", "-A"];
    const ends = await Promise.all([cli(exec, { env }), cli(other === "gc" ? ["gc"] : exec, { env })]);
    expect(ends.map(({ code, stderr }) => [code, stderr.includes("ENOENT")])).toEqual([
      [0, false],
      [0, false],
    ]);
    expect(ends[0]?.stdout).toBe("a.txt\n");
    const said = ends.map(({ stdout, stderr }) => stdout + stderr).join("");
    expect(said.split(".envrc appeared and was moved out of the workspace").length).toBe(2);
    expect(await readdir(place.root)).toEqual(["a.txt"]);
    expect((await readdir(sessions)).filter((name) => name.includes(".guard."))).toEqual([]);
    expect((await readdir(join(sessions, `${id}.quarantine`))).filter((name) => name.endsWith(".part"))).toEqual([]);
  });
});

describe("a recovery that fails", () => {
  it("FS-39 says what it has moved out before, and nothing runs", async () => {
    const { place, env } = await placeWithHome({ "a.txt": "a\n" });
    await using _ = place;
    const id = await killedRun(place, env);
    const [folder = ""] = await readdir(join(env.GLOVEBOX_HOME, "sessions"));
    const sessions = join(env.GLOVEBOX_HOME, "sessions", folder);
    const later = uuidv7();
    await copyFile(join(sessions, `${id}.guard.json`), join(sessions, `${later}.guard.json`));
    await writeFile(join(sessions, `${later}.quarantine`), "where its folder would be");

    const { code, stdout, stderr } = await cli(["exec", "--workspace", place.root, "--", "ls", "-A"], { env });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`session ${id} died: .envrc appeared and was moved out of the workspace`);
    expect(stderr).toContain(`${later}.quarantine`);
    const left = (await readdir(sessions)).filter((name) => name.includes(".guard."));
    expect(left).toEqual([`${later}.guard.json`]);
  });
});

describe("a file with a name outside the workspace", () => {
  it("FS-54 is not written by a command that a person runs either, and that is said", async () => {
    const { place, env } = await placeWithHome({ "src/own.txt": "own\n" });
    await using _ = place;
    const store = join(place.folder, "store.txt");
    await writeFile(store, "of the store\n");
    await link(store, join(place.root, "src/linked.txt"));
    const command = "echo evil > src/linked.txt; cat src/linked.txt; touch beside";
    const exec = (...more: string[]) =>
      cli(["exec", "--workspace", place.root, ...more, "--", "sh", "-c", command], { env });
    const { stdout, stderr } = await exec();
    expect([stdout, await readFile(store, "utf8")]).toEqual(["of the store\n", "of the store\n"]);
    expect(stderr).toContain("read-only, as files there are hard links to files outside: src");
    expect(existsSync(join(place.root, "beside"))).toBe(true);

    const policy = join(place.folder, "policy.yaml");
    await writeFile(policy, "version: 1\nworkspace: { hardlinks: allow }\n");
    expect((await exec("--policy", policy)).stdout).toBe("evil\n");
    expect(await readFile(store, "utf8")).toBe("evil\n");
  });

  it("FS-54 is read-only in a run from the first call on that may write, which is said and in the log", async () => {
    const { place, env } = await placeWithHome({ "src/own.txt": "own\n" });
    await using _ = place;
    await link(join(place.root, "src/own.txt"), join(place.folder, "outside"));
    const { code, result, stderr } = await run(place, env, calls("echo evil > src/own.txt; echo free > free"));
    expect([code, await readFile(join(place.folder, "outside"), "utf8")]).toEqual([0, "own\n"]);
    expect(await readFile(join(place.root, "free"), "utf8")).toBe("free\n");
    expect(stderr).toContain("hard links to files outside: src");
    const shown = await cli(["sessions", "show", result.session_id ?? ""], { env });
    expect(shown.stdout).toContain("hard links to files outside");
  });
});

describe("a workspace after a run", () => {
  const FILES = { "a.txt": "a\n", "src/b.txt": "b\n", ".vscode/settings.json": "{}\n" };
  const endings: [string, (place: Place, env: Home) => Promise<unknown>][] = [
    [
      "that ended",
      async (place, env) => {
        const { result } = await run(place, env, calls("cat a.txt", "ls -laR .vscode"));
        expect(result.outcome).toBe("completed");
      },
    ],
    [
      "that could not start",
      async (place, env) => {
        const { code } = await run(place, env, calls("true"), ["--image", "glovebox/none:such", "--no-build"]);
        expect(code).toBe(5);
      },
    ],
    [
      "whose tool host was killed",
      async (place, env) => {
        const { result } = await run(place, env, calls("kill -9 -1; sleep 5", "true"));
        expect(result.tool_calls).toMatchObject({ total: 2, errors: 1 });
      },
    ],
    [
      "that was killed",
      async (place, env) => {
        await writeFile(join(place.folder, "s.yaml"), calls("sleep 600"));
        const args = ["run", "--events", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"];
        const started = startCli(args, { env });
        await expect.poll(started.stdout, { timeout: 20_000 }).toContain('"call_started"');
        started.child.kill("SIGKILL");
        await started.ended;
        await cli(["gc"], { env });
      },
    ],
  ];

  it.each(endings)("FS-41 %s has nothing in it of ours", async (_, end) => {
    const { place, env } = await placeWithHome(FILES);
    await using __ = place;
    const before = await inventory(place.root);
    expect(before.length).toBe(5);
    await end(place, env);
    expect(await inventory(place.root)).toEqual(before);
  });

  it("FS-41 is seen to differ when something is left", async () => {
    const { place, env } = await placeWithHome(FILES);
    await using _ = place;
    const before = await inventory(place.root);
    await run(place, env, calls("touch left"));
    expect(await inventory(place.root)).not.toEqual(before);
  });
});
