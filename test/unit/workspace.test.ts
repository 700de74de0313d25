import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planMounts } from "../../src/workspace/plan-mounts.ts";
import { isInside, openWorkspace, whyForbidden } from "../../src/workspace/workspace.ts";

const forbidden = { userHome: "/home/ann", gloveboxHome: "/home/ann/.glovebox" };

describe("a workspace", () => {
  it.each([
    ["/", "whole file system"],
    ["/home/ann", "your home folder"],
    ["/home", "contains your home folder"],
    ["/home/ann/.glovebox", "own logs and keys"],
    ["/home/ann/.glovebox/sessions", "own logs and keys"],
    ["/usr", "holds `/usr`"],
    ["/etc", "holds `/etc`"],
    ["/opt", "holds `/opt/glovebox`"],
    ["/tmp", "holds `/tmp`"],
    ["/run", "holds `/run`"],
    ["/var", "holds `/var/run`"],
    ["/usr/bin", "holds `/usr/bin`"],
    ["/usr/lib", "holds `/usr/lib`"],
    ["/usr/lib/python3", "in `/usr/lib`"],
    ["/usr/lib64", "holds `/usr/lib64`"],
    ["/usr/sbin/x", "in `/usr/sbin`"],
    ["/usr/libexec/x", "in `/usr/libexec`"],
    ["/lib64/x", "in `/lib64`"],
    ["/etc/ssl", "in `/etc`"],
    ["/boot/grub", "in `/boot`"],
    ["/opt/glovebox/x", "in `/opt/glovebox`"],
    ["/var/lib", "holds `/var/lib/docker`"],
    ["/var/lib/docker", "holds `/var/lib/docker`"],
    ["/var/lib/docker/volumes/x", "in `/var/lib/docker`"],
    ["/var/lib/containerd", "holds `/var/lib/containerd`"],
    ["/run/docker", "holds `/run/docker`"],
    ["/run/containerd/x", "in `/run/containerd`"],
    ["/proc/1", "below `/proc`"],
    ["/sys/fs", "below `/sys`"],
    ["/dev/shm/x", "below `/dev`"],
  ])("is not %s", (root, why) => {
    expect(whyForbidden(root, forbidden)).toContain(why);
  });

  it.each([
    "/home/ann/project",
    "/home/annabel",
    "/home/glovebox/project",
    "/tmp/x",
    "/var/tmp/x",
    "/run/user/1000/x",
    "/srv/x",
    "/usr-local",
    "/usr/src/x",
    "/usr/local/src/x",
    "/etcetera",
    "/var/lib/dockers",
  ])("may be %s", (root) => {
    expect(whyForbidden(root, forbidden)).toBeUndefined();
  });

  it("is refused by the path that was given too, wherever that leads", () => {
    expect(whyForbidden("/srv/x", forbidden, "/etc/x")).toContain("in `/etc`");
    expect(whyForbidden("/usr/lib", forbidden, "/srv/link")).toContain("holds `/usr/lib`");
    expect(whyForbidden("/srv/x", forbidden, "/proc/self/cwd")).toBeUndefined();
  });

  it("O-POL-02 is compared by components, not by characters", () => {
    expect([
      isInside("/workspace-evil/x", "/workspace"),
      isInside("/workspace/x", "/workspace"),
      isInside("/a", "/"),
    ]).toEqual([false, true, true]);
  });
});

const rules = (...paths: string[]) => ({
  writable: { rule: "built-in/workspace.writable", items: [{ value: ".", rule: "built-in/workspace.writable[0]" }] },
  readonly: paths.map((value, index) => ({ value, rule: `built-in/workspace.readonly[${index}]` })),
  hidden: [],
});

describe("the mount plan", () => {
  let root = "";
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "glovebox-plan-")));
    await mkdir(join(root, "repo/.git"), { recursive: true });
    await mkdir(join(root, "plain"));
    await mkdir(join(root, "linked"));
    await symlink("/etc", join(root, "linked/.git"));
    await mkdir(join(root, "worktree"));
    await writeFile(join(root, "worktree/.git"), "gitdir: /elsewhere\n");
    await symlink(join(root, "repo"), join(root, "link"));
  });
  afterAll(() => rm(root, { recursive: true }));

  it("binds a protected folder read-only over itself", async () => {
    const repo = join(root, "repo");
    expect(await planMounts(repo, rules(".git", ".glovebox"))).toEqual({
      mounts: [
        { source: repo, target: repo, readOnly: false },
        { source: join(repo, ".git"), target: join(repo, ".git"), readOnly: true },
      ],
      covers: [],
      readonly: [{ path: ".git", rule: "built-in/workspace.readonly[0]" }],
      hidden: [],
      guarded: [{ path: ".glovebox", rule: "built-in/workspace.readonly[1]", until: "call" }],
      writable: ["."],
    });
  });

  it("protects the pointer file of a worktree too", async () => {
    expect((await planMounts(join(root, "worktree"), rules(".git"))).readonly).toEqual([
      { path: ".git", rule: "built-in/workspace.readonly[0]" },
    ]);
  });

  it("O-POL-01 refuses a protected path that is a link", async () => {
    await expect(planMounts(join(root, "linked"), rules(".git"))).rejects.toMatchObject({
      code: "WORKSPACE_REFUSED",
    });
  });

  it("is made for the folder behind a link", async () => {
    const opened = await openWorkspace(join(root, "link"), forbidden);
    expect(opened.root).toBe(join(root, "repo"));
  });

  it.each(["/bin", "/sbin", "/lib"])("is refused for %s, on most systems a link", async (path) => {
    await expect(openWorkspace(path, forbidden)).rejects.toThrow("needs for itself");
  });

  it.each([
    ["absent", "does not exist"],
    ["worktree/.git", "is not a folder"],
  ])("is refused for %s", async (path, why) => {
    await expect(openWorkspace(join(root, path), forbidden)).rejects.toThrow(why);
  });
});
