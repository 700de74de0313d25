import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { pack } from "tar-fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GloveboxError } from "../../src/core/errors.ts";
import { shortId } from "../../src/core/ids.ts";
import { connectEngine, type Engine } from "../../src/sandbox/engine/engine.ts";
import { orMissing } from "../../src/sandbox/engine/status.ts";
import { followStream } from "../../src/sandbox/images/build.ts";
import { findPlanned } from "../../src/sandbox/images/find.ts";
import { ensureImages, type ImageInputs, type ImageSet } from "../../src/sandbox/images/images.ts";
import { inspectImage } from "../../src/sandbox/images/inspect.ts";
import { listImages } from "../../src/sandbox/images/list.ts";
import { readPlan } from "../../src/sandbox/images/plan.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** An image with an empty folder in it and nothing else. */
const EMPTY_IMAGE = `glovebox-test/empty:${shortId()}`;

let engine: Engine;
let folder: string;
let inputs: ImageInputs;
const volumes = new Set<string>();

beforeAll(async () => {
  engine = await connectEngine({ env: process.env, home: process.env["HOME"] ?? "/", uid: process.getuid?.() });
  folder = await mkdtemp(join(tmpdir(), "glovebox-images-"));
  inputs = { packageRoot: join(folder, "package"), cacheDir: join(folder, "cache"), version: "0.0.0-test" };
  await cp(join(ROOT, "images"), join(inputs.packageRoot, "images"), { recursive: true });
  await mkdir(join(folder, "empty/tmp"), { recursive: true });
  const [repo, tag] = EMPTY_IMAGE.split(":");
  await followStream(await engine.docker.importImage(pack(join(folder, "empty")), { repo, tag }), () => undefined);
  await writeBundle("");
  await ensure();
});

afterAll(async () => {
  await engine.docker.getImage(EMPTY_IMAGE).remove({ force: true });
  for (const volume of volumes) await orMissing(engine.docker.getVolume(volume).remove({ force: true }));
  await rm(folder, { recursive: true, force: true });
});

/** Each text makes a volume of its own; a random comment keeps them apart from those of other runs. */
async function writeBundle(text: string): Promise<void> {
  await mkdir(join(inputs.packageRoot, "dist"), { recursive: true });
  await writeFile(join(inputs.packageRoot, "dist/toolhost.mjs"), `// ${shortId()}\n${text}`);
  volumes.add(readPlan(inputs, engine.architecture).volume);
}

async function ensure(build = true): Promise<ImageSet> {
  return await ensureImages(engine, inputs, { env: process.env, build });
}

/** What of it is there, as a start looks for it. */
async function found(from: ImageInputs): Promise<Partial<ImageSet>> {
  return await findPlanned(engine, from, readPlan(from, engine.architecture));
}

/** Runs the bundle as sealed as a sandbox is, in an image that has no file; returns its output and exit code. */
async function runBundle({ runtime }: ImageSet, user: string): Promise<{ output: string; exitCode: number }> {
  const container = await engine.docker.createContainer({
    Image: EMPTY_IMAGE,
    Entrypoint: [runtime.nodePath, runtime.bundlePath],
    User: user,
    HostConfig: {
      NetworkMode: "none",
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      ReadonlyRootfs: true,
      Mounts: [{ Type: "volume", Source: runtime.volume, Target: "/opt/glovebox", ReadOnly: true }],
    },
    Tty: true,
  });
  try {
    await container.start();
    const { StatusCode } = await container.wait();
    const output = await container.logs({ stdout: true, stderr: true });
    const plain = stripVTControlCharacters(output.toString());
    return { output: plain.replaceAll("\r", "").trim(), exitCode: StatusCode };
  } finally {
    await container.remove({ force: true });
  }
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof GloveboxError ? error.code : String(error);
}

describe("ensureImages", () => {
  it("makes what is then found", async () => {
    expect(await found(inputs)).toEqual(await ensure(false));
  });

  it("makes a new volume for a new bundle and keeps the images", async () => {
    const before = await ensure();
    await writeBundle("");
    const after = await ensure();
    expect(after.base).toEqual(before.base);
    expect(after.runtime.volume).not.toBe(before.runtime.volume);
  });

  it("says what is missing when it may not build", async () => {
    await writeBundle("");
    expect(await codeOf(ensure(false))).toBe("IMAGE_MISSING");
  });

  it("never uses a volume that was not filled to the end", async () => {
    await writeBundle('console.log("whole");');
    const { volume } = readPlan(inputs, engine.architecture);
    await engine.docker.createVolume({ Name: volume, Labels: { "glovebox.kind": "runtime" } });
    expect((await found(inputs)).runtime).toBeUndefined();
    expect(await runBundle(await ensure(), "1000")).toEqual({ output: "whole", exitCode: 0 });
  });

  it("does not take an empty volume that came in the place of a whole one", async () => {
    const { runtime } = await ensure();
    await engine.docker.getVolume(runtime.volume).remove();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await engine.docker.createVolume({ Name: runtime.volume });
    expect((await found(inputs)).runtime).toBeUndefined();
    await ensure();
  });

  it("trusts a whole volume that another cache folder made, after a look into it", async () => {
    const set = await ensure();
    const other = { ...inputs, cacheDir: join(folder, "other-cache") };
    expect((await found(other)).runtime).toBeUndefined();
    expect(await ensureImages(engine, other, { env: process.env, build: false })).toEqual(set);
  });

  it("is safe to call twice at once, also with two cache folders", async () => {
    await writeBundle('console.log("once");');
    const other = { ...inputs, cacheDir: join(folder, "third-cache") };
    const sets = await Promise.all([
      ensure(),
      ensure(),
      ensureImages(engine, other, { env: process.env, build: true }),
    ]);
    expect(new Set(sets.map(({ runtime }) => runtime.volume)).size).toBe(1);
    expect(await runBundle(sets[0], "1000")).toEqual({ output: "once", exitCode: 0 });
  });

  it("leaves no container behind", async () => {
    const label = ["glovebox=0.0.0-test"];
    expect(await engine.docker.listContainers({ all: true, filters: JSON.stringify({ label }) })).toEqual([]);
  });
});

describe("the runtime volume, in an image without any file", () => {
  it.each(["1000:1000", "0:0"])("runs node, git and rg as %s", async (user) => {
    await writeBundle(`
      import { spawnSync } from "node:child_process";
      import { readdirSync } from "node:fs";
      import { gunzipSync, gzipSync } from "node:zlib";
      const run = (file, ...args) => spawnSync(file, args, { encoding: "utf8" }).stdout.split(/[\\n ]/)[0];
      console.log(run("/opt/glovebox/bin/git", "--version"), run("/opt/glovebox/bin/rg", "--version"));
      console.log(gunzipSync(gzipSync("zlib")).toString(), readdirSync("/").includes("opt"));
    `);
    expect(await runBundle(await ensure(), user)).toEqual({ output: "git ripgrep\nzlib true", exitCode: 0 });
  });

  it.each(["1000:1000", "0:0"])(
    "a command of the tool host's own user %s does not read its descriptors or memory",
    async (user) => {
      await writeBundle(`
      import { spawnSync } from "node:child_process";
      for (const name of ["fd/1", "mem", "environ", "maps"]) {
        const { status, stderr } = spawnSync("/opt/glovebox/bin/rg", ["--no-config", "-a", "-c", "", "/proc/" + process.pid + "/" + name], { encoding: "utf8" });
        console.log(name, status, /Permission denied/.test(stderr));
      }
    `);
      const output = ["fd/1", "mem", "environ", "maps"].map((name) => `${name} 2 true`).join("\n");
      expect(await runBundle(await ensure(), user)).toEqual({ output, exitCode: 0 });
    },
  );
});

describe("inspectImage", () => {
  it("tells what an image brings along", async () => {
    const { base } = await ensure();
    const { id, user, cmd, volumes: declared, hasHealthcheck, env } = await inspectImage(engine, base.ref);
    expect({ id, user, cmd, declared, hasHealthcheck }).toEqual({
      id: base.id,
      user: "",
      cmd: ["bash"],
      declared: [],
      hasHealthcheck: false,
    });
    expect(env).toContain("LANG=C.UTF-8");
  });

  it("says that an image is neither here nor to be had", async () => {
    expect(await codeOf(inspectImage(engine, "glovebox-test/nowhere:1"))).toBe("IMAGE_MISSING");
  });
});

describe("listImages", () => {
  it("marks what this version uses as current", async () => {
    const { base, runtime } = await ensure();
    const current = (await listImages(engine, inputs)).filter((item) => item.isCurrent).map((item) => item.name);
    expect(current).toEqual(expect.arrayContaining([base.ref, runtime.volume]));
  });
});
