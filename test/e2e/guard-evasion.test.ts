import { chown, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunResult } from "../../src/session/result.ts";
import { cli, engineGroup, Place } from "../support/engine.ts";

const isRoot = process.getuid?.() === 0;

/** A workspace that an ordinary user owns, and runs by root and, where that can be, by that user. */
const RUNNERS: [string, () => Promise<{ user?: { uid: number; gid: number } }>][] = [
  ["whoever runs the tests", () => Promise.resolve({})],
  ...(isRoot
    ? [
        [
          "an ordinary user",
          async () => ({ user: { uid: 1000, gid: await engineGroup() } }),
        ] as (typeof RUNNERS)[number],
      ]
    : []),
];

async function run(place: Place, commands: string[], options: { user?: { uid: number; gid: number } }) {
  const script = [...commands.map((command) => ({ calls: [{ bash: { command } }] })), { text: "Done." }];
  await writeFile(join(place.folder, "s.yaml"), JSON.stringify(script));
  const args = ["run", "--json", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"];
  const env = { GLOVEBOX_HOME: join(place.folder, "h"), HOME: place.folder };
  const { code, stdout, stderr } = await cli(args, { env, cwd: place.folder, ...options });
  return { code, stderr, result: JSON.parse(stdout) as RunResult };
}

async function ownedPlace(): Promise<Place> {
  const place = await Place.create(tmpdir(), { forEveryone: true });
  if (isRoot) await chown(place.root, 1000, 1000);
  return place;
}

describe.each(RUNNERS)("FS-39 what must not appear, in a session of %s", (_, runner) => {
  it("is moved out from behind folders that a command closed, in the call and at the end", async () => {
    await using place = await ownedPlace();
    const closing =
      "mkdir -p .github/workflows .cargo; echo evil > .github/workflows/a.yml; echo evil > .cargo/config.toml; chmod 000 .github; chmod 600 .cargo";
    const { code, result } = await run(place, [closing, "mkdir .git; touch .git/config; touch made"], await runner());
    expect([code, result.quarantined.map(({ path }) => path).toSorted()]).toEqual([
      0,
      [".cargo/config.toml", ".git", ".github/workflows"],
    ]);
    expect(result.denials.length).toBeGreaterThan(0);
    const left = await readdir(place.root);
    expect(left.toSorted()).toEqual([".cargo", ".github", "made"]);
    // The folders are as the command left them, and hold nothing.
    expect(((await stat(join(place.root, ".github"))).mode & 0o777).toString(8)).toBe("0");
    if (isRoot) expect(await readdir(join(place.root, ".github"))).toEqual([]);
  });

  it("is moved out although names that nothing can be told of lie beside it, which are named", async () => {
    await using place = await ownedPlace();
    const { code, result } = await run(
      place,
      ["touch evil.code-workspace $'\\xff.code-workspace' $'caf\\xe9.txt'; mkdir .git"],
      await runner(),
    );
    expect(result.quarantined.map(({ path }) => path).toSorted()).toEqual([".git", "evil.code-workspace"]);
    expect([code, result.error?.message]).toEqual([5, expect.stringContaining("a name that is not valid UTF-8")]);
    expect(await readdir(place.root)).not.toContain("evil.code-workspace");
  });
});

describe("a repository that is too large to be kept", () => {
  it("is left where it is, and that is said", async () => {
    await using place = await ownedPlace();
    const { code, result } = await run(place, ["mkdir .git; truncate -s 5G .git/big; touch .envrc"], {});
    expect(result.quarantined.map(({ path }) => path)).toEqual([".envrc"]);
    expect([code, result.error?.message]).toEqual([5, expect.stringContaining("so it was left where it is")]);
    expect((await stat(join(place.root, ".git/big"))).size).toBe(5 * 1024 ** 3);
  });
});

describe("a pattern of a policy", () => {
  it("hides beside names that are not UTF-8", async () => {
    await using place = await ownedPlace();
    await mkdir(join(place.root, "a"));
    await writeFile(join(place.root, "a/.env"), "KEY=1");
    await writeFile(Buffer.concat([Buffer.from(`${place.root}/caf`), Buffer.from([0xe9])]), "");
    const args = ["exec", "--workspace", place.root, "--policy", "strict", "--", "/bin/sh", "-c", "wc -c < a/.env"];
    const { code, stdout } = await cli(args, { env: { GLOVEBOX_HOME: join(place.folder, "h") } });
    expect([code, stdout.trim()]).toEqual([0, "0"]);
  });
});
