import { describe, expect, inject, it } from "vitest";
import { LocalSandbox } from "../support/local-sandbox.ts";
import { Scene } from "../support/run.ts";
import { call, describeSandbox, words } from "../support/sandbox-contract.ts";

describe("a call that is too large to send", () => {
  it("is answered as invalid, and nothing is lost", async () => {
    await using scene = await Scene.create();
    const sandbox = await LocalSandbox.open({ root: scene.root, bundle: inject("localToolHost") });
    const result = await call(sandbox, "write", { path: "a", content: "x".repeat(33 * 1024 * 1024) });
    expect([result.status, words(result)]).toEqual(["invalid", expect.stringContaining("too large to send")]);
    expect((await call(sandbox, "ls", {})).status).toBe("ok");
    await sandbox.close();
  });
});

describeSandbox("a local sandbox", { open: (root) => LocalSandbox.open({ root, bundle: inject("localToolHost") }) });
