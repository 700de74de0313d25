import { createHash } from "node:crypto";
import { link, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { QuarantineItem } from "../../src/core/quarantine.ts";
import { BUILT_IN_POLICY } from "../../src/policy/policy.ts";
import type { SandboxRequest } from "../../src/session/provider.ts";
import { lookForAppeared } from "../../src/workspace/appeared.ts";
import { connect, openSandbox, type Place, placeWith } from "../support/engine.ts";
import { call, words } from "../support/sandbox-contract.ts";

async function hashOf(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}

const nothing = () => Promise.resolve({ found: [], problem: undefined });

type Kept = QuarantineItem & { text: string };

/** What a session does with what appears, but for the disk. */
function keeping(root: string): { kept: Kept[]; request: Partial<SandboxRequest> } {
  const kept: Kept[] = [];
  const guarded = BUILT_IN_POLICY.readonly.map(({ value, rule }) => ({ path: value, rule, until: "call" as const }));
  const keep: SandboxRequest["keep"] = async (item, archive) => {
    const chunks: Buffer[] = [];
    for await (const chunk of archive) chunks.push(chunk as Buffer);
    kept.push({ ...item, text: Buffer.concat(chunks).toString("latin1") });
  };
  return { kept, request: { keep, appeared: () => lookForAppeared(root, { guarded, protected: [] }) } };
}

describe("a file with a name outside the workspace", () => {
  async function placeWithStore(): Promise<{ place: Place; store: string }> {
    const place = await placeWith({ "src/own.c": "own\n" });
    const store = join(place.folder, "store.txt");
    await writeFile(store, "of the store\n");
    await mkdir(join(place.root, "node_modules/a/lib"), { recursive: true });
    await link(store, join(place.root, "node_modules/a/lib/index.js"));
    return { place, store };
  }
  const WRITE = "echo changed >> node_modules/a/lib/index.js; echo more >> src/own.c";

  it("FS-54 is not written through its name inside, and all else is", async () => {
    const { place, store } = await placeWithStore();
    await using _ = place;
    const before = await hashOf(store);
    await using opened = await openSandbox(place.root);
    const first = opened.sandbox.facts.containerId;
    const read = { tool: "read", args: { path: "src/own.c" }, deadlineMs: 60_000, readsOnly: true };
    const options = { signal: new AbortController().signal, onOutput: () => undefined };
    expect((await opened.sandbox.call(read, options)).status).toBe("ok");
    expect(opened.sandbox.facts.containerId).toBe(first);

    const written = await call(opened.sandbox, "bash", { command: WRITE });
    expect(words(written)).toContain("Read-only file system");
    expect(words(written)).toContain("node_modules/a/lib");
    expect(words(written)).toContain("workspace.hardlinks: allow");
    expect(await hashOf(store)).toBe(before);
    expect(await readFile(join(place.root, "src/own.c"), "utf8")).toBe("own\nmore\n");

    const second = await call(opened.sandbox, "write", { path: "node_modules/a/lib/index.js", content: "x" });
    expect([second.status, second.denial?.rule]).toEqual(["denied", "built-in/workspace.hardlinks"]);
    expect(words(second)).not.toContain("Shell state");
    const moved = "mv node_modules n2 || mv node_modules/a node_modules/b || rm -rf node_modules/a || echo held";
    expect(words(await call(opened.sandbox, "bash", { command: moved }))).toContain("held");
    expect(opened.events.map(({ event }) => event)).toEqual([
      ...["started", "selftest", "started", "selftest", "links_protected"],
    ]);
    expect(await hashOf(store)).toBe(before);
  });

  it("FS-54 is not written after the container died before it was looked for", async () => {
    const { place, store } = await placeWithStore();
    await using _ = place;
    const engine = await connect();
    await using opened = await openSandbox(place.root);
    await engine.docker.getContainer(opened.sandbox.facts.containerId).kill();
    const written = await call(opened.sandbox, "bash", { command: WRITE });
    expect(words(written)).toContain("Read-only file system");
    expect(await readFile(store, "utf8")).toBe("of the store\n");
    expect(opened.events.map(({ event }) => event)).toContain("lost");
  });

  it("FS-54 is written where that is allowed", async () => {
    const { place, store } = await placeWithStore();
    await using _ = place;
    await using opened = await openSandbox(place.root, { request: { protectLinks: "never" } });
    expect((await call(opened.sandbox, "bash", { command: WRITE })).status).toBe("ok");
    expect(await readFile(store, "utf8")).toBe("of the store\nchanged\n");
  });
});

describe("a protected file that is saved on the host", () => {
  it("FS-53 is noticed, kept in both versions and protected again, and its new content stays", async () => {
    await using place = await placeWith({ ".envrc": "old\n", "a.txt": "a\n" });
    const { kept, request } = keeping(place.root);
    await using opened = await openSandbox(place.root, {
      request: { ...request, appeared: nothing },
    });
    const loop = "while :; do echo $((i++)) 2>/dev/null > mine; echo evil >> .envrc; sleep 0.01; done 2>/dev/null";
    const running = call(opened.sandbox, "bash", { command: loop });
    await expect.poll(() => readFile(join(place.root, "mine"), "utf8").catch(() => "")).toMatch(/\d/);
    expect(await readFile(join(place.root, ".envrc"), "utf8")).toBe("old\n");

    await writeFile(join(place.root, "new"), "saved\n");
    await rename(join(place.root, "new"), join(place.root, ".envrc"));
    const lost = await running;
    expect([lost.status, words(lost)]).toEqual(["lost", expect.stringContaining(".envrc")]);
    expect(words(lost)).toContain("0.2 s");
    const after = await readFile(join(place.root, ".envrc"), "utf8");
    expect(after.startsWith("saved\n")).toBe(true);
    expect(kept.map(({ path, kind }) => [path, kind])).toEqual([
      [".envrc", "before"],
      [".envrc", "after"],
    ]);
    expect(kept[0]?.text).toContain("old\n");
    expect(kept[1]?.text).toContain("saved\n");

    const again = await call(opened.sandbox, "bash", { command: "echo evil >> .envrc; echo b > a.txt" });
    expect(words(again)).toContain("Read-only file system");
    expect(await readFile(join(place.root, ".envrc"), "utf8")).toBe(after);
    expect(await readFile(join(place.root, "a.txt"), "utf8")).toBe("b\n");
    expect(opened.events.at(-1)).toMatchObject({ event: "remounted", detail: { paths: [".envrc"], notes: [] } });
  });

  it("FS-53 saved between calls is protected again before the next one, which runs", async () => {
    await using place = await placeWith({ ".vscode/settings.json": "old\n", ".envrc": "old\n" });
    const { kept, request } = keeping(place.root);
    await using opened = await openSandbox(place.root, { request: { ...request, appeared: nothing } });
    expect((await call(opened.sandbox, "bash", { command: "echo a > a" })).status).toBe("ok");
    await mkdir(join(place.folder, "new"));
    await writeFile(join(place.folder, "new/settings.json"), "saved\n");
    await rename(join(place.root, ".vscode"), join(place.folder, "old"));
    await rename(join(place.folder, "new"), join(place.root, ".vscode"));
    await rm(join(place.root, ".envrc"));

    const next = await call(opened.sandbox, "bash", { command: "cat a; echo evil > .vscode/settings.json" });
    expect(words(next)).toMatch(/started again before this call.*\.vscode/s);
    expect(words(next)).toMatch(/^a\n.*Read-only file system/ms);
    expect(await readFile(join(place.root, ".vscode/settings.json"), "utf8")).toBe("saved\n");
    expect(kept.map(({ path, kind }) => `${path} ${kind}`).toSorted()).toEqual(
      expect.arrayContaining([".vscode after", ".vscode before"]),
    );
    expect(kept.find(({ path, kind }) => path === ".vscode" && kind === "before")?.text).toContain("old\n");
    // What is gone is guarded from now on.
    const made = await call(opened.sandbox, "bash", { command: "echo evil > .envrc" });
    expect(made.denial?.rule).toMatch(/^built-in\/workspace\.protected/);
    expect(await readdir(place.root)).toEqual([".vscode", "a"]);
  });

  it("FS-53 replaced by a link to a file outside ends the sandbox, and the link is not mounted", async () => {
    await using place = await placeWith({ ".envrc": "old\n" });
    const outside = join(place.folder, "outside");
    await writeFile(outside, "outside\n");
    const { request } = keeping(place.root);
    await using opened = await openSandbox(place.root, { request: { ...request, appeared: nothing } });
    expect((await call(opened.sandbox, "bash", { command: "true" })).status).toBe("ok");
    await symlink(outside, join(place.root, "link"));
    await rename(join(place.root, "link"), join(place.root, ".envrc"));
    const next = await call(opened.sandbox, "bash", { command: "cat .envrc" });
    expect([next.status, words(next)]).toEqual(["lost", expect.stringContaining("has become a link")]);
    expect(opened.sandbox.failure).toMatchObject({ code: "SANDBOX_LOST", exitCode: 5 });
    expect((await call(opened.sandbox, "bash", { command: "true" })).status).toBe("lost");
  });

  it("FS-53 saved again and again ends the sandbox after the fifth time", async () => {
    await using place = await placeWith({ ".envrc": "0\n" });
    const { request } = keeping(place.root);
    await using opened = await openSandbox(place.root, { request: { ...request, appeared: nothing } });
    const seen: string[] = [];
    for (let round = 1; round <= 6; round++) {
      await writeFile(join(place.root, "new"), `${round}\n`);
      await rename(join(place.root, "new"), join(place.root, ".envrc"));
      const { status } = await call(opened.sandbox, "bash", { command: "cat .envrc" });
      seen.push(status);
    }
    expect(seen).toEqual(["ok", "ok", "ok", "ok", "ok", "lost"]);
    expect(opened.sandbox.failure).toMatchObject({
      code: "SANDBOX_LOST",
      message: expect.stringMatching(/detached on the host 6 times, the last time of \.envrc/),
      hint: expect.stringContaining("close the editor"),
    });
  });
});

describe("what is hostile at a guarded path", () => {
  const HOSTILE = `
    mkdir -p .vscode/closed/inner .idea && cd .vscode
    mkfifo pipe; ln -s /etc/passwd out; ln -s . self; ln -s ../a.txt in; echo x > closed/inner/f; chmod 000 closed/inner closed
    echo secret > unreadable; chmod 000 unreadable
    printf x > "$(printf 'a\\nb')"; printf x > "$(printf '\\377bad')"; truncate -s 1T sparse; ln unreadable second-name
    python3 - <<'EOF'
import os
for i in range(3000):
    os.mkdir("deep-folder"); os.chdir("deep-folder")
open("bottom", "w").write("x")
EOF
    cd ..; rmdir .idea; ln -s .vscode .idea
    mkdir elsewhere; echo y > elsewhere/config.toml; ln -s elsewhere .cargo; mkfifo .envrc
    : > .mcp.json; chmod 000 .mcp.json`;

  it("FS-39 is moved out whatever it is, nothing outside is touched, and the tool host goes on", async () => {
    await using place = await placeWith({ "a.txt": "a\n" });
    const { kept, request } = keeping(place.root);
    await using opened = await openSandbox(place.root, { request });
    const made = await call(opened.sandbox, "bash", { command: `${HOSTILE}; ls -A | wc -l` });
    expect([words(made).split("\n")[0], made.denial?.by]).toEqual(["7", "containment"]);
    expect(kept.map(({ path, kind }) => [path, kind]).toSorted()).toEqual([
      [".cargo", "appeared"],
      [".envrc", "appeared"],
      [".idea", "appeared"],
      [".mcp.json", "appeared"],
      [".vscode", "appeared"],
    ]);
    expect((await readdir(place.root)).toSorted()).toEqual(["a.txt", "elsewhere"]);
    expect(await readFile(join(place.root, "a.txt"), "utf8")).toBe("a\n");
    expect(await readFile(join(place.root, "elsewhere/config.toml"), "utf8")).toBe("y\n");
    const folder = kept.find(({ path }) => path === ".vscode");
    expect(folder?.cut.join("\n")).toMatch(/sparse` \(1\.0 TiB\)/);
    expect(folder?.cut.join("\n")).toMatch(/pipe`, which is no file/);
    expect(folder?.cut.join("\n")).toMatch(/too deep/);
    expect(folder?.cut.join("\n")).toMatch(/not UTF-8/);
    expect(folder?.text).toContain("secret\n");
    expect(folder?.text).not.toContain("root:x:");
    expect(words(await call(opened.sandbox, "bash", { command: "cat a.txt" }))).toBe("a\n");
  });

  it("FS-39 is moved out although a job keeps making it, and at the end for good", async () => {
    await using place = await placeWith({ "a.txt": "a\n" });
    const { kept, request } = keeping(place.root);
    const opened = await openSandbox(place.root, { request });
    const loop = "while :; do mkdir -p .vscode && echo $((n++)) > .vscode/$((n % 50)); done 2>/dev/null";
    await call(opened.sandbox, "bash", { command: loop, background: true });
    for (let round = 0; round < 5; round++) {
      const { status } = await call(opened.sandbox, "bash", { command: "sleep 0.2" });
      expect(status).toBe("ok");
    }
    expect(kept.length).toBeGreaterThan(4);
    await opened.sandbox.close();
    expect(await readdir(place.root)).toEqual(["a.txt"]);
  });

  it("FS-39 stays where it is when it cannot be kept, and that is said", async () => {
    await using place = await placeWith({ "a.txt": "a\n" });
    const keep = () => Promise.reject(new Error("the disk is full"));
    await using opened = await openSandbox(place.root, { request: { keep } });
    const made = await call(opened.sandbox, "bash", { command: "echo x > .envrc" });
    expect(words(made)).toContain("could not be moved out of the workspace (the disk is full)");
    expect(await readFile(join(place.root, ".envrc"), "utf8")).toBe("x\n");
  });
});
