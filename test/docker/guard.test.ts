import { createHash } from "node:crypto";
import { link, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSandbox, Place } from "../support/engine.ts";
import { call, words } from "../support/sandbox-contract.ts";

async function placeWith(files: Record<string, string>): Promise<Place> {
  const place = await Place.create();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(place.root, path, ".."), { recursive: true });
    await writeFile(join(place.root, path), text);
  }
  return place;
}

async function hashOf(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
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
    const kept: { path: string; kind: string; text: string }[] = [];
    await using opened = await openSandbox(place.root, {
      request: {
        keep: async (item, archive) => {
          const chunks: Buffer[] = [];
          for await (const chunk of archive) chunks.push(chunk as Buffer);
          kept.push({ path: item.path, kind: item.kind, text: Buffer.concat(chunks).toString("latin1") });
        },
      },
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
});
