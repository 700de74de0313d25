import { readdir, writeFile } from "node:fs/promises";
import { afterAll, describe, expect, it } from "vitest";
import { cli, connect, openSandbox, Place } from "../support/engine.ts";
import { call, words } from "../support/sandbox-contract.ts";
import { baseRef, buildTestImage, loadForeignImage, removeTestImage } from "../support/test-image.ts";

const engine = await connect();
const { docker } = engine;
const base = baseRef(engine);
const made: string[] = [];

async function image(name: string, lines: string): Promise<string> {
  const ref = `glovebox-test/${name}:${process.pid}`;
  made.push(ref);
  return buildTestImage(docker, ref, lines);
}

afterAll(async () => {
  for (const ref of made) await removeTestImage(docker, ref);
});

describe("an image of somebody else's", () => {
  it.each([
    ["entrypoint", `FROM ${base}\nENTRYPOINT ["/bin/bash"]`],
    ["false", `FROM ${base}\nENTRYPOINT ["/bin/false"]\nCMD ["x"]`],
    ["user", `FROM ${base}\nUSER nobody\nWORKDIR /proc/self/fd/8\nHEALTHCHECK --interval=1s CMD false`],
    ["stop", `FROM ${base}\nSTOPSIGNAL SIGWINCH\nONBUILD RUN false`],
  ])("O-LIFE-03, O-DOCK-01 with its own %s is used like any other", async (name, lines) => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root, { image: await image(name, lines) });
    const { sandbox } = opened;
    const result = await call(sandbox, "bash", { command: "echo ok; pwd" });
    expect([result.status, words(result)]).toEqual(["ok", `ok\n${place.root}\n`]);
    const { State } = await docker.getContainer(sandbox.facts.containerId).inspect();
    expect(State.Health).toBeUndefined();
  });

  it("Y-14 cannot load code by its variables, and its harmless ones are kept", async () => {
    await using place = await Place.create();
    const ref = await image(
      "env",
      `FROM ${base}\nENV LD_PRELOAD=/evil.so NODE_OPTIONS="-r /evil" BASH_ENV=/evil.sh HTTPS_PROXY=http://evil FOO=kept PATH=/opt/own:/usr/bin:/bin`,
    );
    await using opened = await openSandbox(place.root, { image: ref });
    const { sandbox } = opened;
    const seen = words(await call(sandbox, "bash", { command: "env | sort" }));
    expect(seen).not.toMatch(/evil/);
    expect(seen).toContain("FOO=kept");
    expect(seen).toContain("PATH=/opt/own:/usr/bin:/bin");
    expect(sandbox.facts.degraded.join(" ")).toContain("LD_PRELOAD");
  });

  it("with volumes gets volumes of ours, with the image's content, and none is left", async () => {
    await using place = await Place.create();
    const ref = await image(
      "volumes",
      `FROM ${base}\nRUN mkdir /data && echo kept > /data/f && chmod -R 777 /data\nVOLUME /data /more`,
    );
    const before = (await docker.listVolumes()).Volumes.map(({ Name }) => Name).sort();
    const { sandbox } = await openSandbox(place.root, { image: ref });
    const during = (await docker.listVolumes()).Volumes.filter(({ Name }) => !before.includes(Name));
    expect(words(await call(sandbox, "bash", { command: "cat /data/f; touch /data/new && echo writable" }))).toBe(
      "kept\nwritable\n",
    );
    expect(during.map(({ Labels }) => Labels["glovebox.kind"])).toEqual(["session", "session"]);
    await sandbox.close();
    expect((await docker.listVolumes()).Volumes.map(({ Name }) => Name).sort()).toEqual(before);
  });

  it.each(["/opt/glovebox/host", "/opt/glovebox", "/", "/proc/self", "/run/glovebox"])(
    "Y-14 that declares %s as a volume, to get at the tool host, is refused",
    async (path) => {
      await using place = await Place.create();
      const ref = await image("over", `FROM ${base}\nVOLUME ${path}`);
      await expect(openSandbox(place.root, { image: ref })).rejects.toMatchObject({ code: "IMAGE_UNUSABLE" });
    },
  );

  it("Y-14 that declares the workspace or what is in it as a volume leaves nothing in it", async () => {
    await using place = await Place.create();
    const inside = await image("ghost", `FROM ${base}\nVOLUME ${place.root}/ghost`);
    await expect(openSandbox(place.root, { image: inside })).rejects.toMatchObject({ code: "IMAGE_UNUSABLE" });
    await using opened = await openSandbox(place.root, {
      image: await image("same", `FROM ${base}\nVOLUME ${place.root} /tmp /run`),
    });
    expect(words(await call(opened.sandbox, "bash", { command: "echo x > f; echo y > /tmp/y && ls" }))).toBe("f\n");
    expect(await readdir(place.root)).toEqual(["f"]);
  });

  it("O-LIFE-05 without bash runs commands by sh and says so once", async () => {
    await using place = await Place.create();
    const ref = await image("sh", `FROM ${base}\nRUN rm /bin/bash /usr/bin/bash; true`);
    await using opened = await openSandbox(place.root, { image: ref });
    const { sandbox } = opened;
    const first = words(await call(sandbox, "bash", { command: "export A=1; echo ok" }));
    expect(first).toContain("ok\n");
    expect(first).toContain("no bash");
    expect(words(await call(sandbox, "bash", { command: "echo $A" }))).toBe("1\n");
  });

  it.each([
    [
      "without a shell",
      "noshell",
      () => `FROM ${base} AS b\nFROM scratch\nCOPY --from=b /etc/hostname /x\n`,
      "has no shell",
    ],
    ["that does not exist", "absent", () => undefined, "Image `glovebox-test/absent"],
  ])("O-LIFE-05 %s is refused in one sentence, before the model is asked", async (_, name, lines, sentence) => {
    await using place = await Place.create();
    const dockerfile = lines();
    const ref = dockerfile ? await image(name, dockerfile) : `glovebox-test/${name}:1`;
    const ended = await cli([
      "run",
      "--json",
      "--image",
      ref,
      "--workspace",
      place.root,
      "--model",
      "scripted:/dev/null",
      "go",
    ]);
    const script = `${place.folder}/s.yaml`;
    await writeFile(script, `- text: "Done."\n`);
    const run = await cli([
      "run",
      "--json",
      "--image",
      ref,
      "--workspace",
      place.root,
      "--model",
      `scripted:${script}`,
      "go",
    ]);
    expect(ended.code).toBe(2);
    expect(run.code).toBe(5);
    const { error, usage, turns } = JSON.parse(run.stdout);
    expect(error.message).toContain(sentence);
    expect(error.hint).not.toBeNull();
    expect([turns, usage.input]).toEqual([0, 0]);
    const left = await docker.listContainers({
      all: true,
      filters: { label: [`glovebox.session=${JSON.parse(run.stdout).session_id}`] },
    });
    expect(left).toEqual([]);
  });

  it("Y-08 for another processor is refused in one sentence", async () => {
    await using place = await Place.create();
    const other = engine.architecture === "x64" ? "arm64" : "amd64";
    const ref = `glovebox-test/foreign:${process.pid}`;
    made.push(ref);
    await loadForeignImage(docker, ref, other);
    await expect(openSandbox(place.root, { image: ref })).rejects.toMatchObject({
      code: "IMAGE_UNUSABLE",
      message: expect.stringContaining(other),
    });
  });
});
