import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

type EngineScript = { removeStale: (file: string, program: string) => void };

// By a computed path: the script has no types, and runs before anything is installed.
const { removeStale } = (await import(join(import.meta.dirname, "../../scripts/engine.mjs"))) as EngineScript;

describe("a pid file that a killed engine left", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "glovebox-pid-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ["of a process that is gone", String(0x3fffff)],
    ["whose pid another program has now", "1"],
    ["that is no number", "x"],
    ["that is empty", ""],
  ])("%s is removed", async (_, text) => {
    const file = join(folder, "docker.pid");
    await writeFile(file, text);
    removeStale(file, "dockerd");
    expect(existsSync(file)).toBe(false);
  });

  it("of a live process of that name is left alone", async () => {
    const child = spawn("sleep", ["60"]);
    const file = join(folder, "sleep.pid");
    await writeFile(file, `${child.pid}\n`);
    removeStale(file, "sleep");
    expect(await readFile(file, "utf8")).toBe(`${child.pid}\n`);
    child.kill();
  });
});
