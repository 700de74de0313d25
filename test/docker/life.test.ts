import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LABELS } from "../../src/sandbox/labels.ts";
import { currentOwner } from "../../src/sandbox/owner.ts";
import { reap } from "../../src/sandbox/reaper.ts";
import { cli, connect, openSandbox, Place, startCli } from "../support/engine.ts";
import { eventOf } from "../support/events.ts";
import { call, words } from "../support/sandbox-contract.ts";
import { baseRef } from "../support/test-image.ts";

const engine = await connect();
const { docker } = engine;

async function containersOf(session: string): Promise<string[]> {
  const found = await docker.listContainers({ all: true, filters: { label: [`${LABELS.session}=${session}`] } });
  return found.map(({ Id }) => Id);
}

const SLEEPER = `- calls: [ { bash: { command: "echo begun; sleep 600" } } ]\n`;

describe("what a dead controller leaves", () => {
  it("O-LIFE-01 is removed by gc, which says so, and a living one's is not", async () => {
    await using place = await Place.create();
    await writeFile(join(place.folder, "s.yaml"), SLEEPER);
    const args = ["run", "--events", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"];
    const [dead, alive] = [startCli(args), startCli(args)];
    const sessions = await Promise.all([dead, alive].map(async (run) => (await eventOf(run, "session")).id));
    await Promise.all([dead, alive].map((run) => eventOf(run, "call_started")));
    expect(await Promise.all(sessions.map(async (id) => (await containersOf(id)).length))).toEqual([1, 1]);

    dead.child.kill("SIGKILL");
    await dead.ended;
    const collected = await cli(["gc"]);
    expect(collected.stdout + collected.stderr).toContain(sessions[0]);
    expect(collected.stdout + collected.stderr).not.toContain(sessions[1]);
    expect(await Promise.all(sessions.map(async (id) => (await containersOf(id)).length))).toEqual([0, 1]);

    alive.child.kill("SIGINT");
    expect((await alive.ended).code).toBe(130);
    expect(await containersOf(sessions[1] ?? "")).toEqual([]);
  });

  it("O-LIFE-01 is removed by the next start", async () => {
    await using place = await Place.create();
    const container = await docker.createContainer({
      Image: baseRef(engine),
      Cmd: ["true"],
      Labels: {
        [LABELS.version]: "0",
        [LABELS.session]: "gone",
        [LABELS.owner]: JSON.stringify({ ...(await currentOwner()), pid: 0x3fffff }),
      },
    });
    await writeFile(join(place.folder, "s.yaml"), `- text: "Done."\n`);
    const ended = await cli(["run", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"]);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain("gone");
    await expect(container.inspect()).rejects.toMatchObject({ statusCode: 404 });
  });

  it("Y-03 is told apart from what is not ours, alive, or another machine's young one", async () => {
    const owner = await currentOwner();
    const make = (labels: Record<string, string>) =>
      docker.createContainer({ Image: baseRef(engine), Cmd: ["true"], Labels: labels });
    const kept = await Promise.all([
      make({ "com.example": "1" }),
      make({ [LABELS.session]: "s", [LABELS.owner]: "{}" }),
      make({ [LABELS.version]: "0", [LABELS.session]: "s", [LABELS.owner]: JSON.stringify(owner) }),
      make({
        [LABELS.version]: "0",
        [LABELS.session]: "s",
        [LABELS.owner]: JSON.stringify({ ...owner, machine: "other" }),
      }),
      make({ [LABELS.version]: "0", [LABELS.kind]: "build" }),
    ]);
    const probe = await make({
      [LABELS.version]: "0",
      [LABELS.kind]: "probe",
      [LABELS.owner]: JSON.stringify({ ...owner, pid: 0x3fffff }),
    });
    const reused = await make({
      [LABELS.version]: "0",
      [LABELS.session]: "s",
      [LABELS.owner]: JSON.stringify({ ...owner, startedAt: "1" }),
    });
    try {
      await reap(docker);
      await expect(reused.inspect()).rejects.toMatchObject({ statusCode: 404 });
      await expect(probe.inspect()).rejects.toMatchObject({ statusCode: 404 });
      for (const container of kept) expect((await container.inspect()).Id).toBe(container.id);
    } finally {
      await Promise.all(kept.map((container) => container.remove({ force: true })));
    }
  });
});

describe("a start", () => {
  it("O-LIFE-02, Y-06 works ten times at once in one folder", async () => {
    await using place = await Place.create();
    await writeFile(join(place.folder, "s.yaml"), `- calls: [ { bash: { command: "echo $$" } } ]\n- text: "Done."\n`);
    const args = ["run", "--json", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"];
    const ended = await Promise.all(Array.from({ length: 10 }, () => cli(args)));
    expect(ended.map(({ code, stderr }) => [code, stderr.includes("glovebox:")])).toEqual(Array(10).fill([0, false]));
    const sessions = ended.map(({ stdout }) => JSON.parse(stdout).session_id as string);
    expect(new Set(sessions).size).toBe(10);
    expect((await Promise.all(sessions.map(containersOf))).flat()).toEqual([]);
  });
});

describe("an end", () => {
  it("O-LIFE-04 does not wait for processes that ignore every signal that can be ignored", async () => {
    await using place = await Place.create();
    const { sandbox } = await openSandbox(place.root);
    await call(sandbox, "bash", { command: "trap '' INT TERM HUP; while :; do sleep 60; done", background: true });
    const late = new Promise((resolve) => setTimeout(resolve, 8_000, "late").unref());
    // 8 s: the reports speak of 10 to 30, and a removal takes a fraction of one.
    expect(await Promise.race([sandbox.close().then(() => "closed"), late])).toBe("closed");
    await expect(docker.getContainer(sandbox.facts.containerId).inspect()).rejects.toMatchObject({ statusCode: 404 });
  });
});

describe("a container that goes away", () => {
  it.each([
    ["killed", (id: string) => docker.getContainer(id).kill()],
    ["removed", (id: string) => docker.getContainer(id).remove({ force: true })],
  ])("O-LIFE-05 %s between calls is replaced once, and the model is told what is gone", async (_, end) => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox, events } = opened;
    await call(sandbox, "bash", { command: "echo x > /tmp/x; echo y > y" });
    const first = sandbox.facts.containerId;
    await end(first);
    const lost = await call(sandbox, "read", { path: "y" });
    expect(lost.status).toBe("lost");
    expect(words(lost)).toContain("A new sandbox was started");
    expect(words(await call(sandbox, "bash", { command: "cat y; test -e /tmp/x || echo gone" }))).toBe("y\ngone\n");
    expect(sandbox.facts.containerId).not.toBe(first);
    expect(events.map(({ event }) => event)).toEqual(["started", "selftest", "lost", "started", "selftest"]);

    await end(sandbox.facts.containerId);
    const again = await call(sandbox, "bash", { command: "true" });
    expect([again.status, sandbox.failure?.code]).toEqual(["lost", "SANDBOX_LOST"]);
  });

  it("O-LIFE-05 in the middle of a command or of a large write answers each call as lost", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const running = [
      call(sandbox, "bash", { command: "echo begun; sleep 30" }),
      call(sandbox, "write", { path: "large", content: "x".repeat(5_000_000) }),
    ];
    await docker.getContainer(sandbox.facts.containerId).kill();
    const results = await Promise.all(running);
    expect(results[0]?.status).toBe("lost");
    expect(["lost", "ok"]).toContain(results[1]?.status);
    expect(words(await call(sandbox, "bash", { command: "echo again" }))).toBe("again\n");
  });

  it("O-LIFE-05 in a run ends it with exit code 5, a valid log and no container", async () => {
    await using place = await Place.create();
    await writeFile(join(place.folder, "s.yaml"), `${SLEEPER}${SLEEPER}- text: "Done."\n`);
    const run = startCli([
      "run",
      "--events",
      "--workspace",
      place.root,
      "--model",
      `scripted:${place.folder}/s.yaml`,
      "go",
    ]);
    const session = (await eventOf(run, "session")).id;
    await eventOf(run, "tool_output");
    const [first] = await containersOf(session);
    await docker.getContainer(first ?? "").remove({ force: true });
    const second = await waitFor(async () => (await containersOf(session)).find((id) => id !== first));
    await waitFor(async () => (run.stdout().match(/"type":"tool_output"/g)?.length ?? 0) > 1 || undefined);
    await docker.getContainer(second).remove({ force: true });
    const { code, stdout, stderr } = await run.ended;
    expect([code, stderr]).toEqual([5, expect.stringContaining("second time")]);
    const types = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(types.filter(({ type }) => type === "tool_result").map(({ status }) => status)).toEqual(["lost", "lost"]);
    expect(types.findLast(({ live }) => !live)).toMatchObject({ type: "sandbox", event: "ended" });
    expect(await containersOf(session)).toEqual([]);
  });
});

describe("a tool host that a command ends", () => {
  it.each(["kill -9 $PPID", "kill -9 -1", "pkill -9 -f gbx"])(
    "P-37 by `%s` is started again, with state and files as before",
    async (command) => {
      await using place = await Place.create();
      const { sandbox, events } = await openSandbox(place.root);
      try {
        await call(sandbox, "bash", { command: "export KEPT=yes; cd /tmp; echo file > /tmp/f" });
        const ended = await call(sandbox, "bash", { command });
        expect(ended.status).toBe("lost");
        expect(words(ended)).toContain("ended the tool host");
        expect(words(await call(sandbox, "bash", { command: "echo $KEPT $PWD; cat /tmp/f" }))).toBe("yes /tmp\nfile\n");
        expect(events.map(({ event }) => event)).toEqual(["started", "selftest", "toolhost_restarted"]);
      } finally {
        await sandbox.close();
      }
    },
  );

  it("P-37 more than five times ends the session's sandbox", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    for (let round = 0; round < 6; round++)
      expect((await call(sandbox, "bash", { command: "kill -9 $PPID" })).status).toBe("lost");
    expect(sandbox.failure?.message).toContain("ended 6 times");
  });

  it("P-37 by stopping it is noticed, and the session goes on", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const { sandbox } = opened;
    const stopped = await call(sandbox, "bash", { command: "kill -STOP $PPID; sleep 60" });
    expect(stopped.status).toBe("lost");
    expect(words(await call(sandbox, "bash", { command: "echo back; pgrep -c sleep" }))).toContain("back\n0");
  }, 60_000);
});

async function waitFor<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let round = 0; round < 1200; round++) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("waited a minute in vain");
}
