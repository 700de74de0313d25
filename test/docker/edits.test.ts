import { createHash } from "node:crypto";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSandbox, placeWith } from "../support/engine.ts";
import { call, words } from "../support/sandbox-contract.ts";

const swap = (oldText: string, newText: string) => [{ oldText, newText }];

describe("changes of files in a container", () => {
  it("O-EDIT-07 name the rule that makes a file read-only, and leave no temporary file", async () => {
    await using place = await placeWith({ "locked/f": "a\n", "one.yml": "a\n", "free.txt": "a\n" });
    await symlink("locked/f", join(place.root, "link"));
    await using opened = await openSandbox(place.root, { protect: { readonly: ["locked", "one.yml"] } });
    const said = async (tool: string, args: Parameters<typeof call>[2]) => {
      const { status, ...rest } = await call(opened.sandbox, tool, args);
      return [status, words({ status, ...rest })];
    };
    expect(await said("edit", { path: "free.txt", edits: swap("a", "b") })).toEqual(["ok", expect.anything()]);
    for (const [path, rule] of [
      ["locked/f", "user/workspace.readonly[0]"],
      ["one.yml", "user/workspace.readonly[1]"],
      ["link", "user/workspace.readonly[0]"],
    ] as const) {
      const denied = ["denied", expect.stringContaining(`${path}: read-only by policy rule ${rule}; `)];
      expect(await said("edit", { path, edits: swap("a", "b") })).toEqual(denied);
      expect(await said("write", { path, content: "b" })).toEqual(denied);
      expect(await readFile(join(place.root, path), "utf8")).toBe("a\n");
    }
    expect(await said("write", { path: "locked/new/f", content: "b" })).toEqual(["denied", expect.anything()]);
    const names = (await readdir(place.root, { recursive: true })).filter((name) => !name.startsWith(".git"));
    expect(names.filter((name) => /tmp$|new/.test(name))).toEqual([]);
  });

  it("are checked against what was read, until the tool host that remembers it is started anew", async () => {
    await using place = await placeWith({ f: "a\nb\n" });
    await using opened = await openSandbox(place.root);
    const edit = () => call(opened.sandbox, "edit", { path: "f", edits: swap("a", "x") });
    await call(opened.sandbox, "read", { path: "f" });
    await call(opened.sandbox, "bash", { command: "sed -i s/b/B/ f" });
    expect((await edit()).status).toBe("failed");
    expect((await call(opened.sandbox, "bash", { command: "kill -9 $PPID" })).status).toBe("lost");
    expect((await edit()).status).toBe("ok");
    expect(await readFile(join(place.root, "f"), "utf8")).toBe("x\nB\n");
  });

  it("keep the old content of a file where the disk is full", async () => {
    await using place = await placeWith({});
    await using opened = await openSandbox(place.root, { limits: { tmpBytes: 8 * 1024 * 1024 } });
    const sh = async (command: string) => words(await call(opened.sandbox, "bash", { command }));
    await sh("seq 100000 > /tmp/f; ln -s /tmp/f /tmp/l; sha256sum < /tmp/f > /tmp/sum; cat /dev/zero > /tmp/filler");
    for (const [tool, args] of [
      ["write", { path: "/tmp/l", content: "x".repeat(2_000_000) }],
      ["edit", { path: "/tmp/l", edits: swap("\n99999\n", `\n${"x".repeat(1_000_000)}\n`) }],
    ] as const) {
      const result = await call(opened.sandbox, tool, JSON.parse(JSON.stringify(args)));
      expect([tool, result.status, words(result)]).toEqual([tool, "failed", "/tmp/l: no space left on the device"]);
    }
    expect(
      await sh("sha256sum < /tmp/f | cmp - /tmp/sum && ls -A /tmp | grep -c glovebox-.*tmp; readlink /tmp/l"),
    ).toMatch(/^0\n\/tmp\/f\n/);
  });

  it("take ten megabytes, byte for byte, and a message above the channel's limit is an error, not the end", async () => {
    await using place = await placeWith({});
    await using opened = await openSandbox(place.root);
    const content = `${"0123456789 é\r\n\t".repeat(650_000)}end`;
    expect((await call(opened.sandbox, "write", { path: "large", content })).status).toBe("ok");
    const sum = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest("hex");
    expect(sum(await readFile(join(place.root, "large")))).toBe(sum(content));
    await writeFile(join(place.root, "small"), "a\n");
    const refused = await call(opened.sandbox, "write", { path: "small", content: "\u0001".repeat(6_000_000) });
    expect([refused.status, words(refused)]).toEqual([
      "invalid",
      "Not run: A message of 36000074 bytes is too large to send. Send less at once.",
    ]);
    expect(words(await call(opened.sandbox, "read", { path: "small" }))).toBe("a\n");
  });
});
