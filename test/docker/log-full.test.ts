import { readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoggedEvent } from "../../src/core/events.ts";
import { VERSION } from "../../src/core/version.ts";
import { BUILT_IN_POLICY } from "../../src/policy/policy.ts";
import { LABELS } from "../../src/sandbox/labels.ts";
import { dockerProvider } from "../../src/session/docker-provider.ts";
import { summarise } from "../../src/session/history.ts";
import { homeOf, workspaceId } from "../../src/session/home.ts";
import { cli, connect, openSandbox, Place, packageRoot } from "../support/engine.ts";
import { Scene, type TestRun } from "../support/run.ts";
import { SmallDisk } from "../support/small-disk.ts";

const { docker } = await connect();

const SCRIPT = [1, 2, 3, 4, 5].map((n) => `- calls: [ { bash: { command: "echo ${n} >> ran" } } ]\n`).join("");

/** Files grow by pages: what is left of a log's last page can still be written when the disk is full. */
const PAGE_BYTES = 4096;

/**
 * A run whose log is on `disk`, which is full once an event of type `full` is stored. The longer the prompt, the less is
 * left in the log's last page, and the earlier comes the event that cannot be written.
 */
async function runUntilFull(scene: Scene, disk: SmallDisk, full: string, promptBytes: number): Promise<TestRun> {
  const openSandbox = dockerProvider({
    env: process.env,
    userHome: homedir(),
    packageRoot,
    cacheDir: homeOf(process.env, homedir()).cache,
    version: VERSION,
    image: undefined,
    build: false,
    commandEnv: {},
    sandbox: BUILT_IN_POLICY.sandbox,
    onProgress: () => undefined,
    onReaped: () => undefined,
  });
  return scene.run(`${SCRIPT}- text: "Done."\n`, "", {
    home: { root: disk.path, sessions: join(disk.path, "sessions"), cache: join(scene.folder, "cache") },
    prompt: "x".repeat(promptBytes),
    openSandbox,
    onEvent: ({ type }) => {
      if (type === full) disk.fill();
    },
  });
}

async function ranIn({ root }: TestRun): Promise<string[]> {
  const text = await readFile(join(root, "ran"), "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

/** So close that every event is once the first that does not fit. */
const STEP_BYTES = 128;
const pages = Array.from({ length: PAGE_BYTES / STEP_BYTES }, (_, index) => 1 + index * STEP_BYTES);

const countOf = (events: readonly { type: string }[], type: string): number =>
  events.filter((event) => event.type === type).length;

describe("Y-07 a disk that fills up", () => {
  it("at any event: what is seen is in the log, what ran was recorded before, and the run ends with a sentence", async () => {
    const lastWritten = new Set<string>();
    const cases = [["session", 1] as const, ...pages.map((bytes) => ["user", bytes] as const)];
    for (const [full, promptBytes] of cases) {
      await using disk = await SmallDisk.create();
      await using scene = await Scene.create();
      const run = await runUntilFull(scene, disk, full, promptBytes);
      const { result, events, log } = run;
      const seen = events.filter((event): event is LoggedEvent => "seq" in event);
      expect(log).toEqual(seen);
      const ran = await ranIn(run);
      const started = countOf(log, "call_started");
      // The last one may have been recorded, and the sandbox lost its session before it ran.
      expect([started, started - 1]).toContain(ran.length);
      expect(countOf(log, "tool_result")).toBeLessThanOrEqual(ran.length);
      const filters = { label: [`${LABELS.session}=${result.session_id}`] };
      expect(await docker.listContainers({ all: true, filters })).toEqual([]);
      expect([result.exit_code, result.error]).toEqual([
        1,
        {
          code: "SESSION_WRITE_FAILED",
          message: expect.stringContaining("could not be written: ENOSPC"),
          hint: expect.stringContaining("Free space"),
        },
      ]);
      const { outcome } = await summarise(result.session_file ?? "");
      expect(["interrupted", "not_started", "failed"]).toContain(outcome);
      lastWritten.add(log.at(-1)?.type ?? "session");
    }
    expect([...lastWritten]).toEqual(
      expect.arrayContaining(["assistant", "call_prepared", "call_started", "tool_result"]),
    );
  });

  it("at the first word of a sandbox that has started leaves no container", async () => {
    await using place = await Place.create();
    const failure = new Error("full");
    await expect(openSandbox(place.root, { emit: () => Promise.reject(failure) })).rejects.toBe(failure);
    const filters = { label: [`${LABELS.workspace}=${workspaceId(place.root)}`] };
    expect(await docker.listContainers({ all: true, filters })).toEqual([]);
  });

  it("before a start is said in one sentence, with exit code 1, and nothing is started", async () => {
    await using place = await Place.create();
    await using disk = await SmallDisk.create();
    disk.fill();
    await writeFile(join(place.folder, "s.yaml"), SCRIPT);
    const args = ["run", "--json", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"];
    const { code, stdout } = await cli(args, { env: { GLOVEBOX_HOME: disk.path } });
    expect([code, JSON.parse(stdout).error.code]).toEqual([1, "SESSION_WRITE_FAILED"]);
    await expect(readFile(join(place.root, "ran"))).rejects.toThrow("ENOENT");
  });
});
