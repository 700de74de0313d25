import { chmod, chown, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { connect, openSandbox, Place } from "../support/engine.ts";
import { call, describeSandbox, words } from "../support/sandbox-contract.ts";

describeSandbox("a sandbox in a container", { open: async (root) => (await openSandbox(root)).sandbox });

describe("the wall, seen from inside", () => {
  it("O-DOCK-02 has no capability, no new privileges, a filter, only lo, a read-only root and limits", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const seen = words(
      await call(sandbox, "bash", {
        command: `grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -s '\\t ' ' '
ls /sys/class/net | grep -vE '^(lo|tunl0|sit0|ip6tnl0|gre0|gretap0|erspan0|ip_vti0|ip6_vti0|ip6gre0)$' ; echo net:end
touch /usr/x 2>&1; mkdir /new 2>&1
cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null
ulimit -c; ulimit -n; ls /dev | tr '\\n' ' '`,
      }),
    );
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
      expect(seen).toContain(`${set}: 0000000000000000`);
    expect(seen).toContain("NoNewPrivs: 1");
    expect(seen).toContain("Seccomp: 2");
    expect(seen).toContain("\nnet:end");
    expect(seen.match(/Read-only file system/g)?.length).toBe(2);
    expect(seen).toContain("\n544\n");
    expect(seen).not.toMatch(/sd[a-z]|nvme|vda|kmsg|mem\b|fuse|kvm/);
    expect(sandbox.facts.controls.filter((control) => !control.holds)).toEqual([]);
  });

  it("O-DOCK-03 has a writable HOME, a /tmp that runs programs, and tools that find them", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const result = await call(sandbox, "bash", {
      command: `set -e; echo "$HOME"; touch "$HOME/x"; printf '#!/bin/sh\\necho hi\\n' > /tmp/a; chmod +x /tmp/a; /tmp/a
npm -v; python3 -m pip --version; git config --global user.name x; node -e 'console.log(1)'; id -un; python3 -m venv /tmp/v && /tmp/v/bin/python -c 'print("venv")'`,
    });
    expect([result.status, words(result)]).toEqual([
      "ok",
      expect.stringMatching(/^\/home\/glovebox\nhi\n[\d.]+\npip .*\n1\n\w+\nvenv\n/),
    ]);
  });

  it("P-41, P-42 refuses a command the tool host's descriptors and memory, and lets it see its own", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const seen = words(
      await call(sandbox, "bash", {
        command: `for p in /proc/[0-9]*; do n=\${p#/proc/}; for f in fd/0 fd/1 mem environ maps; do ( : < $p/$f ) 2>/dev/null && echo "$(cat $p/comm):$f"; done; done | sort -u`,
      }),
    );
    expect(seen).toContain("bash:environ");
    expect(seen).not.toMatch(/gbx|idle|docker-init|tini/);
  });

  it("binds what it protects: .git cannot be written, moved or replaced, and a write elsewhere can", async () => {
    await using place = await Place.create();
    await mkdir(join(place.root, ".git/hooks"), { recursive: true });
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const seen = words(
      await call(sandbox, "bash", {
        command: `for c in "touch .git/hooks/pre-commit" "mv .git x" "rm -rf .git" "rmdir .git" "ln -sfn /tmp .git/hooks"; do $c >/dev/null 2>&1 && echo "done: $c"; done; touch ok && echo control; ls -d .git/hooks`,
      }),
    );
    expect(seen).toBe("control\n.git/hooks\n");
    const denied = await call(sandbox, "write", { path: ".git/hooks/pre-commit", content: "x" });
    expect([denied.status, denied.denial]).toEqual([
      "denied",
      { by: "containment", rule: "built-in/workspace.protected[0]", enable_with: expect.any(String) },
    ]);
    await expect(stat(join(place.root, ".git/hooks/pre-commit"))).rejects.toThrow("ENOENT");
  });

  it("O-POL-09 makes files that belong to the workspace's owner", async () => {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-owner-"));
    if (process.getuid?.() === 0) await chown(folder, 12_345, 12_345);
    await using opened = await openSandbox(folder);
    const { sandbox } = opened;
    await call(sandbox, "write", { path: "a.txt", content: "x" });
    expect((await call(sandbox, "bash", { command: "mkdir d; touch d/x; git init -q g; id -u" })).status).toBe("ok");
    const owner = (await stat(folder)).uid;
    expect([(await stat(join(folder, "a.txt"))).uid, (await stat(join(folder, "d/x"))).uid]).toEqual([owner, owner]);
    await rm(folder, { recursive: true });
  });

  it.each(["we:ird", "we,ird", "sp ace", '"q"', "é", "b\\s"])("O-POL-05 works in a folder called %s", async (name) => {
    await using place = await Place.create();
    const folder = join(place.folder, name);
    await mkdir(folder);
    await chmod(folder, 0o755);
    await using opened = await openSandbox(folder);
    const { sandbox } = opened;
    expect(words(await call(sandbox, "bash", { command: "pwd; echo x > y" }))).toBe(`${folder}\n`);
    expect((await stat(join(folder, "y"))).size).toBe(2);
  });

  it.runIf(process.getuid?.() === 0)(
    "is refused in one sentence where a folder of the image closes the way to the workspace",
    async () => {
      const folder = await mkdtemp("/root/glovebox-closed-");
      await chown(folder, 12_345, 12_345);
      try {
        await expect(openSandbox(folder)).rejects.toMatchObject({
          code: "WORKSPACE_REFUSED",
          hint: expect.stringContaining("/root"),
        });
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );

  it("O-DOCK-04 answers when the process table is full, and goes on afterwards", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root, { limits: { pids: 64 } });
    const { sandbox } = opened;
    const first = await call(sandbox, "bash", {
      command: "for i in $(seq 1 200); do sleep 300 & done 2>/dev/null; echo spawned",
      timeout: 20,
    });
    expect(first.status).not.toBe("lost");
    expect((await call(sandbox, "read", { path: "absent" })).status).toBe("failed");
    expect(words(await call(sandbox, "bash", { command: "echo hi" }))).toContain("hi");
    const zombies = words(
      await call(sandbox, "bash", {
        command: "for i in $(seq 1 100); do (sleep 0.01 &) ; done; sleep 1; ps -eo stat | grep -c Z",
      }),
    );
    expect(Number.parseInt(zombies, 10)).toBeLessThan(5);
  });

  it("leaves no container and no volume but the runtime", async () => {
    await using place = await Place.create();
    const { sandbox } = await openSandbox(place.root);
    const { containerId } = sandbox.facts;
    await sandbox.close();
    const { docker } = await connect();
    await expect(docker.getContainer(containerId).inspect()).rejects.toMatchObject({ statusCode: 404 });
  });
});
