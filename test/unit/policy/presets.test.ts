import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ABSENT_APPROVER } from "../../../src/gate/approver.ts";
import { ToolGate } from "../../../src/gate/tool-gate.ts";
import { boundsOf } from "../../../src/policy/bounds.ts";
import { BUILT_IN_LAYER } from "../../../src/policy/built-in.ts";
import { BUILT_IN_POLICY, type Policy } from "../../../src/policy/policy.ts";
import { explain } from "../../../src/session/explain.ts";
import { commandEnvOf } from "../../../src/session/policy-use.ts";
import { PackageManagers } from "../../support/package-managers.ts";
import { looserIn } from "../../support/policy-layers.ts";
import { PolicyPlace } from "../../support/policy-place.ts";
import { policyJsonSchema, policyReference } from "../../support/policy-reference.ts";

const ROOT = join(import.meta.dirname, "../../..");
const NAMES = ["batch", "default", "node", "offline", "python", "strict"];

const withoutOrigins = ({ approval, limits, image, readonly, hidden }: Policy) => ({
  approval,
  limits,
  image,
  readonly: readonly.map(({ value }) => value),
  hidden: hidden.map(({ value }) => value),
});

/** What the gate says of a call of each tool when nobody is there. */
async function verdicts(policy: Policy): Promise<Record<string, string>> {
  const gate = new ToolGate({ policy, approver: ABSENT_APPROVER, askAlways: false });
  const judge = async (tool: string, effects: Parameters<ToolGate["judge"]>[0]["effects"]) =>
    (await gate.judge({ callId: "c", tool, args: {}, effects }, new AbortController().signal)).type;
  return {
    read: await judge("read", [{ kind: "read", path: "a" }]),
    write: await judge("write", [{ kind: "write", path: "a" }]),
    bash: await judge("bash", [{ kind: "exec", command: "ls" }]),
  };
}

describe("the policies that come with glovebox", () => {
  it("are these, each with a reason for every value", () => {
    const files = readdirSync(join(ROOT, "policies")).filter((file) => file.endsWith(".yaml"));
    expect(files.toSorted()).toEqual(NAMES.map((name) => `${name}.yaml`));
    for (const file of files) {
      const lines = readFileSync(join(ROOT, "policies", file), "utf8").split("\n");
      expect(lines.filter((line) => line.trim().startsWith("#")).length, file).toBeGreaterThan(5);
    }
  });

  it.each(NAMES)("%s loads, drops nothing, and explains itself", async (name) => {
    await using place = await PolicyPlace.create();
    const loaded = await place.load({ policy: name, strictPolicy: true });
    expect(loaded.facts.sources.map(({ layer }) => layer)).toEqual(["user"]);
    expect(explain("path", ".git/hooks/x", loaded, place.root)).toEqual({
      decision: "readonly",
      rule: "built-in/workspace.protected[0]",
    });
    expect(explain("host", "example.com", loaded, place.root).decision).toBe("deny");
    expect(explain("tool", "read", loaded, place.root).decision).toBe("allow");
  });

  it("default is what is built in, said aloud", async () => {
    await using place = await PolicyPlace.create();
    const { policy, bounds } = await place.load({ policy: "default" });
    expect(withoutOrigins(policy)).toEqual(withoutOrigins(BUILT_IN_POLICY));
    expect(looserIn(bounds, boundsOf(BUILT_IN_LAYER))).toEqual([]);
  });

  it("strict lets nothing be changed without a person, and is looser nowhere", async () => {
    await using place = await PolicyPlace.create();
    const loaded = await place.load({ policy: "strict" });
    expect(await verdicts(loaded.policy)).toEqual({ read: "allow", write: "deny", bash: "deny" });
    expect(looserIn(loaded.bounds, boundsOf(BUILT_IN_LAYER))).toEqual([]);
    expect(explain("path", "app/.env", loaded, place.root).decision).toBe("hidden");
    expect(explain("tool", "bash", loaded, place.root)).toEqual({ decision: "ask", rule: "user/approval.exec" });
    expect(loaded.policy.limits).toMatchObject({ cpus: 1, memoryBytes: 1024 ** 3, pids: 128, callSeconds: 300 });
  });

  it("offline keeps a trusted project from the network and tells package managers so", async () => {
    await using place = await PolicyPlace.create();
    const { policy } = await place.load({ policy: "offline" });
    expect(policy.approval.net).toBe("deny");
    expect(commandEnvOf(policy, {})).toMatchObject({ npm_config_offline: "true", PIP_NO_INDEX: "1", GOPROXY: "off" });
  });

  it.each([
    ["node", "npm"],
    ["python", "pip"],
  ])("%s reaches what %s of this machine is configured for, and nothing else", async (name, manager) => {
    await using managers = await PackageManagers.create();
    await managers.shell("npm", `echo '{"registry":"https://mirror.example.com"}'`);
    await managers.shell("python3", "echo \"global.index-url='https://mirror.example.com/simple'\"");
    await using place = await PolicyPlace.create({ PATH: managers.bin });
    const loaded = await place.load({ policy: name, strictPolicy: true });
    expect(loaded.facts.warnings).toEqual([`user/network.allow[0]: ${manager} uses mirror.example.com`]);
    expect(explain("host", "mirror.example.com", loaded, place.root)).toMatchObject({ decision: "allow" });
    expect(explain("host", "other.example.com", loaded, place.root).decision).toBe("deny");
    expect(loaded.policy.network.hosts[0]?.allow?.items[0]?.value.registry).toBe(manager);
  });

  it.each([
    ["batch", "allow"],
    ["strict", "ask"],
    ["offline", "deny"],
  ])("%s has no host, and to one that the person adds it says %s", async (name, decision) => {
    await using place = await PolicyPlace.create();
    const loaded = await place.load({ policy: name, allowHosts: ["a.example.com"] });
    expect(explain("host", "a.example.com", loaded, place.root).decision).toBe(decision);
    expect(explain("host", "b.example.com", loaded, place.root).decision).toBe("deny");
  });

  it.each([
    ["node", { CI: "1", npm_config_audit: "false" }, 1024],
    ["python", { PYTHONUNBUFFERED: "1", PIP_NO_INPUT: "1" }, 512],
    ["batch", { CI: "1" }, 256],
  ])("%s runs every tool without a question, with its variables and limits", async (name, env, pids) => {
    await using place = await PolicyPlace.create();
    const { policy } = await place.load({ policy: name });
    expect(await verdicts(policy)).toEqual({ read: "allow", write: "allow", bash: "allow" });
    expect(commandEnvOf(policy, {})).toMatchObject(env);
    expect(policy.limits.pids).toBe(pids);
  });
});

describe("what is made from the schema", () => {
  it.each([
    ["docs/policy.md", policyReference()],
    ["policies/schema.json", policyJsonSchema()],
  ])("%s is not stale (node scripts/policy-reference.mjs)", (file, text) => {
    expect(readFileSync(join(ROOT, file), "utf8")).toBe(text);
  });
});
