import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uuidv7 } from "../../src/core/ids.ts";
import { VERSION } from "../../src/core/version.ts";
import { createHelper, type HelperOptions } from "../../src/sandbox/helper.ts";
import { ensureImages } from "../../src/sandbox/images/images.ts";
import { RUNTIME_PATHS } from "../../src/sandbox/images/runtime-paths.ts";
import { LABELS } from "../../src/sandbox/labels.ts";
import { userInside } from "../../src/sandbox/user.ts";
import { homeOf } from "../../src/session/home.ts";
import { connect, packageRoot } from "../support/engine.ts";

const engine = await connect();
const node = [RUNTIME_PATHS.nodePath, "--openssl-config=/dev/null", "-e"];
let options: HelperOptions;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-helper-"));
  const inputs = { packageRoot, cacheDir: homeOf(process.env, homedir()).cache, version: VERSION };
  const { base, runtime } = await ensureImages(engine, inputs, { env: process.env, build: false });
  options = { imageId: base.id, runtimeVolume: runtime.volume, version: VERSION, cacheDir: folder };
});

afterAll(() => rm(folder, { recursive: true }));

async function probes(): Promise<number> {
  const filters = { label: [`${LABELS.kind}=probe`] };
  return (await engine.docker.listContainers({ all: true, filters })).length;
}

describe("a short container", () => {
  it("runs one command on what is mounted, gives its end, and is gone", async () => {
    await writeFile(join(folder, "a"), "text\n");
    const before = await probes();
    const mounts = [{ source: folder, target: "/in", readOnly: true }];
    const command = ["/bin/sh", "-c", "cat /in/a; echo late >&2; touch /in/b 2>/dev/null || exit 7"];
    const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    expect(await createHelper(engine, options).run({ command, mounts, user })).toEqual({
      exitCode: 7,
      stdout: "text\n",
      stderr: "late\n",
    });
    expect(await probes()).toBe(before);
  });

  it("is closed as a session's is", async () => {
    const look = `grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'; ls /sys/class/net; id -u
for c in "touch /usr/x" "unshare -r true" "chroot / true"; do $c 2>/dev/null && echo "did $c"; done; touch /tmp/x && echo control`;
    const { stdout } = await createHelper(engine, options).run({ command: ["/bin/sh", "-c", look], mounts: [] });
    const interfaces = /^(?:tunl0|sit0|ip6tnl0|gre0|gretap0|erspan0|ip_vti0|ip6_vti0|ip6gre0)$/;
    const none = "0000000000000000";
    expect(stdout.split("\n").filter((line) => line !== "" && !interfaces.test(line))).toEqual([
      ...[`CapEff:${none}`, `CapBnd:${none}`, "NoNewPrivs:1", "Seccomp:2"],
      ...["lo", "65532", "control"],
    ]);
  });

  it("cuts what is printed without end", async () => {
    const command = [...node, "process.stdout.write('é'.repeat(2_000_000)); process.stderr.write('x'.repeat(10_000))"];
    const { exitCode, stdout, stderr } = await createHelper(engine, options).run({ command, mounts: [] });
    expect([exitCode, stdout.length, stderr.length]).toEqual([0, 1024 ** 2 / 2, 4096]);
  });

  it("says which program is not there", async () => {
    const end = await createHelper(engine, options).run({ command: ["/absent"], mounts: [] });
    expect(end).toMatchObject({ exitCode: 127, stderr: expect.stringContaining("/absent") });
  });

  it.runIf(process.getuid?.() === 0)("sees whose files a person's are, where the engine maps users", async () => {
    // This engine maps nobody, so that the answer is known.
    const mapping = { ...engine, isRemapped: true, id: uuidv7() };
    const own = { ...options, cacheDir: join(folder, "cache") };
    expect(await userInside(mapping, { uid: 12_345, gid: 23_456 }, own)).toEqual({ uid: 12_345, gid: 23_456 });
  });
});
