import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { GloveboxError } from "../../src/core/errors.ts";
import { mountAt, parseMounts } from "../../src/core/mount-points.ts";
import { demultiplex } from "../../src/sandbox/channel.ts";
import { commandEnvironment } from "../../src/sandbox/environment.ts";
import { failedControls } from "../../src/sandbox/expected-controls.ts";
import { groupFor, passwdFor } from "../../src/sandbox/identity.ts";
import { planImageVolumes } from "../../src/sandbox/image-volumes.ts";
import { lost } from "../../src/sandbox/lost.ts";
import { currentOwner, ownerState, parseOwner } from "../../src/sandbox/owner.ts";

function multiplexed(...parts: [number, string][]): Buffer {
  return Buffer.concat(
    parts.flatMap(([stream, text]) => {
      const header = Buffer.alloc(8);
      header[0] = stream;
      header.writeUInt32BE(Buffer.byteLength(text), 4);
      return [header, Buffer.from(text)];
    }),
  );
}

describe("the engine's multiplexed stream", () => {
  const bytes = multiplexed([1, "€uro-ß-漢字"], [2, "a warning"], [1, ""], [1, "x".repeat(40_000)], [2, "."]);

  it.each([1, 2, 7, 8, 9, 4096, bytes.length])(
    "O-EXEC-02 is split the same when read %i bytes at a time",
    async (size) => {
      const source = new PassThrough();
      const out: Buffer[] = [];
      const err: Buffer[] = [];
      demultiplex(source, { stdout: (part) => out.push(part) > 0, stderr: (part) => err.push(part) });
      for (let at = 0; at < bytes.length; at += size) source.write(bytes.subarray(at, at + size));
      source.end();
      await new Promise((resolve) => source.on("end", resolve));
      expect(Buffer.concat(out).toString()).toBe(`€uro-ß-漢字${"x".repeat(40_000)}`);
      expect(Buffer.concat(err).toString()).toBe("a warning.");
    },
  );

  it("is paused while its reader asks to wait", () => {
    const source = new PassThrough();
    demultiplex(source, { stdout: () => false, stderr: () => undefined });
    source.emit("data", multiplexed([1, "x"]));
    expect(source.isPaused()).toBe(true);
  });
});

describe("the environment of commands", () => {
  it("is the image's without what loads code or redirects, then ours", () => {
    const { env, refused } = commandEnvironment(
      [
        "PATH=/opt/bin",
        "LANG=de",
        "FOO=a=b",
        "LD_PRELOAD=/x",
        "NODE_OPTIONS=-r /x",
        "https_proxy=http://x",
        "GIT_DIR=/x",
        "HOME=/root",
      ],
      { CI: "1" },
    );
    expect(refused).toEqual(["LD_PRELOAD", "NODE_OPTIONS", "https_proxy", "GIT_DIR"]);
    expect(env).toEqual({
      PATH: "/opt/bin",
      LANG: "de",
      FOO: "a=b",
      HOME: "/home/glovebox",
      TMPDIR: "/tmp",
      TERM: "dumb",
      PAGER: "cat",
      GIT_PAGER: "cat",
      GIT_EDITOR: "true",
      GIT_TERMINAL_PROMPT: "0",
      DEBIAN_FRONTEND: "noninteractive",
      CI: "1",
    });
  });
});

describe("passwd and group", () => {
  const passwd = "root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/bash\n";

  it("get an entry for a user without one", () => {
    expect(passwdFor(passwd, { uid: 1234, gid: 5 }, "/bin/bash")).toBe(
      `${passwd}glovebox:x:1234:5:glovebox:/home/glovebox:/bin/bash\n`,
    );
    expect(groupFor("root:x:0:\n", 5)).toBe("root:x:0:\nglovebox:x:5:\n");
  });

  it("give a known user our HOME and leave the others alone", () => {
    expect(passwdFor(passwd, { uid: 1000, gid: 1000 }, "/bin/bash")).toBe(
      "root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/glovebox:/bin/bash\n",
    );
    expect(groupFor("node:x:1000:\n", 1000)).toBe("node:x:1000:\n");
  });

  it("are made for an image that has none", () => {
    expect(passwdFor("", { uid: 7, gid: 7 }, "/bin/sh")).toBe("glovebox:x:7:7:glovebox:/home/glovebox:/bin/sh\n");
  });
});

describe("the owner of a container", () => {
  it("is alive while its process is, and dead when another has its pid", async () => {
    const owner = await currentOwner();
    expect(await ownerState(owner)).toBe("alive");
    expect(await ownerState({ ...owner, startedAt: "1" })).toBe("dead");
    expect(await ownerState({ ...owner, pid: 0x3fffff })).toBe("dead");
    expect(await ownerState({ ...owner, machine: "another" })).toBe("unknown");
    expect(await ownerState({ ...owner, namespace: "pid:[1]" })).toBe("unknown");
  });

  it("survives its label, and a label of something else is none", async () => {
    const owner = await currentOwner();
    expect(parseOwner(JSON.stringify(owner))).toEqual(owner);
    expect([undefined, "", "{", "[]", "{}", '{"machine":1}'].map(parseOwner)).toEqual(Array(6).fill(undefined));
  });
});

describe("the error of a sandbox that is lost", () => {
  it("has the hint of its cause, and one of the engine where the cause has none", () => {
    const moved = new GloveboxError("WORKSPACE_REFUSED", "the folder was moved", { hint: "Start again there" });
    const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
    expect(lost("Gone", moved)).toMatchObject({ message: "Gone: the folder was moved", hint: "Start again there" });
    expect(lost("Gone", full).hint).toContain("The disk is full");
    expect([lost("Gone").hint, lost("Gone", new Error("x")).hint]).toEqual(
      Array(2).fill(expect.stringContaining("glovebox doctor")),
    );
  });
});

describe("mountinfo", () => {
  it("tells the topmost mount at a path, with blanks in names", () => {
    const mounts = parseMounts(
      "1 0 0:1 / / rw,relatime - ext4 /dev/a rw\n2 1 0:1 / /a\\040b ro,nosuid - ext4 /dev/a rw\n3 1 0:1 / / ro - overlay o rw\n",
    );
    expect(mountAt(mounts, "/")).toEqual({ id: "3", path: "/", options: "ro", readOnly: true });
    expect(mountAt(mounts, "/a b")).toEqual({ id: "2", path: "/a b", options: "ro,nosuid", readOnly: true });
    expect(mountAt(mounts, "/b")).toBeUndefined();
  });
});

describe("an image's volumes", () => {
  const image = (...volumes: string[]): { ref: string; volumes: string[] } => ({ ref: "evil", volumes });
  const mounts = [{ target: "/srv/ws" }, { target: "/srv/ws/.git" }];

  it("get one of ours each, but where something of ours lies", () => {
    expect(planImageVolumes(image("/data", "/data/", "/tmp", "/run", "/srv", "/srv/ws", "/var/lib/x"), mounts)).toEqual(
      ["/data", "/srv", "/var/lib/x"],
    );
  });

  it.each([
    ...[
      "/",
      "/opt/glovebox",
      "/opt/glovebox/host",
      "/opt/../opt/glovebox/bin",
      "/proc/self",
      "/sys/fs/cgroup",
      "/dev",
      "/run/glovebox",
    ],
    ...["/srv/ws/ghost", "/srv/ws/.git/hooks", "srv/ws/x"],
  ])("Y-14 are refused at %s", (path) => {
    expect(() => planImageVolumes(image(path), mounts)).toThrow("declares");
  });
});

describe("a self-test's report", () => {
  const expect_ = {
    uid: 1,
    gid: 1,
    pidsMax: 1,
    memoryMaxBytes: 1,
    readonly: ["/w/.git"],
    hidden: ["/w/secrets"],
    pinned: ["/w/a"],
    writable: ["/tmp"],
    probe: "/p",
    secretHashes: [],
  };

  const reported = 16;

  it("fails when a control was not reported, or was invented in its place", () => {
    expect(failedControls([], expect_).length).toBe(reported);
    expect(failedControls([{ control: "everything", holds: true, evidence: "trust me" }], expect_).length).toBe(
      reported,
    );
  });
});
