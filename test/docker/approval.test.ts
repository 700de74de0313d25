import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Journal } from "../../src/agent/journal.ts";
import { RunClock } from "../../src/agent/limits.ts";
import { Secrets } from "../../src/core/secrets.ts";
import { ABSENT_APPROVER, type Approver, NO_APPROVER, YES_APPROVER } from "../../src/gate/approver.ts";
import { ToolGate } from "../../src/gate/tool-gate.ts";
import { BUILT_IN_POLICY } from "../../src/policy/policy.ts";
import { LABELS } from "../../src/sandbox/labels.ts";
import { Arena } from "../../src/session/attacks/arena.ts";
import { ATTACKS } from "../../src/session/attacks/catalogue.ts";
import type { Caller } from "../../src/session/attacks/inside.ts";
import { carryOut } from "../../src/session/attacks/run.ts";
import { surroundingsOf } from "../../src/session/surroundings.ts";
import { toolOffers } from "../../src/tools/catalogue.ts";
import { connect, Place, startCli } from "../support/engine.ts";
import { eventOf } from "../support/events.ts";
import { performCall } from "../support/perform-call.ts";

const MODES = [[], ["--approve", "ask"], ["--approve", "auto"], ["--approve", "deny"]];

/** The container of a run with these options, without what names that one session. */
async function containerOf(place: Place, options: readonly string[]): Promise<unknown> {
  const { docker } = await connect();
  const model = `scripted:${place.folder}/s.yaml`;
  const run = startCli(["run", "--events", "--workspace", place.root, "--model", model, ...options, "go"]);
  try {
    const { id = "" } = await eventOf(run, "session");
    // From here on the sandbox is ready.
    await eventOf(run, "system");
    const [found] = await docker.listContainers({ filters: { label: [`${LABELS.session}=${id}`] } });
    const { Config, HostConfig, Mounts, Path, Args, AppArmorProfile } = await docker
      .getContainer(found?.Id ?? "")
      .inspect();
    const { [LABELS.session]: _session, [LABELS.owner]: _owner, ...labels } = Config.Labels;
    // The engine lists what is mounted in no order.
    const mounted = Mounts.toSorted((a, b) => a.Destination.localeCompare(b.Destination));
    return { Config: { ...Config, Labels: labels }, HostConfig, mounted, Path, Args, AppArmorProfile };
  } finally {
    run.child.kill("SIGINT");
    await run.ended;
  }
}

/** Calls as an agent makes them, through the tool gate. */
function throughGate(approver: Approver, askAlways: boolean): Caller {
  const gate = new ToolGate({ policy: BUILT_IN_POLICY, approver, askAlways });
  const journal = new Journal({ append: (fact) => Promise.resolve(fact), show: () => undefined });
  const clock = new RunClock(600);
  return async (sandbox, tool, args) => {
    const { result } = await performCall(
      { type: "tool_call", id: "1", name: tool, arguments: JSON.stringify(args) },
      { gate, journal, clock, sandbox, callSeconds: 600, tools: toolOffers(), steer: () => undefined },
      new AbortController().signal,
    );
    return result;
  };
}

const PERSON: Approver = { by: "person", ask: () => Promise.resolve({ type: "yes", scope: "session" }) };
const QUICK = ["C-02", "FS-02", "FS-04", "FS-15", "FS-21", "FS-46", "L-05", "N-05", "P-02", "P-06", "P-16", "P-42"];

async function verdictsThrough(call: Caller): Promise<string[]> {
  await using arena = await Arena.open({
    policy: BUILT_IN_POLICY,
    surroundings: surroundingsOf(process.env, new Secrets(), { cwd: import.meta.dirname, userHome: homedir() }),
    signal: new AbortController().signal,
    call,
  });
  const before = await arena.scene.state();
  const verdicts: string[] = [];
  for (const attack of ATTACKS.filter(({ id }) => QUICK.includes(id))) {
    const { id, outcome, evidence } = await carryOut(attack, arena);
    verdicts.push(outcome === "not_proved" ? `${id} ${outcome}: ${evidence}` : `${id} ${outcome}`);
  }
  expect(await arena.scene.harm(before)).toEqual([]);
  return verdicts;
}

describe("L-16 a way of approving", () => {
  it("makes no difference to the container that the engine is told to make", async () => {
    await using place = await Place.create();
    await writeFile(join(place.folder, "s.yaml"), `- { delay_ms: 60000, text: "Done." }\n`);
    const containers: string[] = [];
    for (const options of MODES) containers.push(JSON.stringify(await containerOf(place, options)));
    for (const container of containers) expect(container).toBe(containers[0]);
    expect(containers[0]).toContain("no-new-privileges");
  });

  it.each([
    ["no `--approve`", ABSENT_APPROVER, false],
    ["`--approve auto`", YES_APPROVER, true],
    ["`--approve ask`, and a person who says yes to everything", PERSON, true],
  ])("makes no difference to what attacks come to: %s", async (_, approver, askAlways) => {
    expect(await verdictsThrough(throughGate(approver, askAlways))).toEqual(QUICK.map((id) => `${id} contained`));
  });

  it.each([
    ["`--approve deny`", NO_APPROVER],
    ["`--approve ask`, and nobody there", ABSENT_APPROVER],
  ])("that says no keeps every attack from being tried: %s", async (_, approver) => {
    const verdicts = await verdictsThrough(throughGate(approver, true));
    const refused = /not_proved: control failed: .*(denied by approval, flag\/approve|denied: Not run)/;
    expect(verdicts.filter((verdict) => !refused.test(verdict))).toEqual([]);
    expect(verdicts.length).toBe(QUICK.length);
  });
});
