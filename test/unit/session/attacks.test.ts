import { describe, expect, it } from "vitest";
import { reportLines } from "../../../src/cli/attack-command.ts";
import { NO_PAINT } from "../../../src/cli/paint.ts";
import { socketAddress, unixAddress } from "../../../src/session/attacks/addresses.ts";
import type { AttackOutcome } from "../../../src/session/attacks/attack.ts";
import { ATTACKS } from "../../../src/session/attacks/catalogue.ts";
import { type DoneStep, verdictOf } from "../../../src/session/attacks/run.ts";
import { deniedBy, summaryOf } from "../../../src/session/attacks/steps.ts";
import { isHeld } from "../../../src/session/attacks/suite.ts";

const control = (holds: boolean): DoneStep => ({ isControl: true, what: "a write", holds, seen: "lost" });
const attempt = (holds: boolean, seen: string): DoneStep => ({ isControl: false, what: "a move", holds, seen });

describe("the verdict on an attack", () => {
  it.each<[string, string[], DoneStep[], AttackOutcome, string]>([
    [
      "is that it is contained",
      [],
      [control(true), attempt(true, "EBUSY"), attempt(true, "EBUSY")],
      "contained",
      "EBUSY ×2",
    ],
    ["is that it is not, where it worked", [], [control(true), attempt(false, "ok")], "not_contained", "a move: ok"],
    [
      "is that it is not, where the host was harmed",
      ["x is gone"],
      [control(true), attempt(true, "y")],
      "not_contained",
      "x is gone",
    ],
    [
      "is that it is not, where the host was harmed and nothing else is known",
      ["x is gone"],
      [control(false)],
      "not_contained",
      "x is gone",
    ],
    [
      "is no verdict where the control failed",
      [],
      [control(false), attempt(true, "EBUSY")],
      "not_proved",
      "control failed: a write: lost",
    ],
    ["is no verdict without a control", [], [attempt(true, "EBUSY")], "not_proved", "nothing was tried"],
    ["is no verdict without an attempt", [], [control(true)], "not_proved", "nothing was tried"],
  ])("%s", (_, harm, steps, outcome, evidence) => {
    expect(verdictOf(harm, steps)).toEqual({ outcome, evidence });
  });

  it.each<[AttackOutcome, boolean]>([
    ["contained", true],
    ["not_applicable", true],
    ["not_contained", false],
    ["not_proved", false],
  ])("`%s` holds: %s", (outcome, holds) => {
    expect(isHeld({ outcome })).toBe(holds);
  });
});

describe("the catalogue of attacks", () => {
  it("has each id once, in order", () => {
    const ids = ATTACKS.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted());
    expect(ids.length).toBeGreaterThan(75);
  });
});

describe("a step", () => {
  const denied = (by: "containment" | "approval", enable_with: string) =>
    summaryOf({
      status: "denied",
      content: [{ type: "text", text: "No." }],
      details: {},
      denial: { by, rule: "built-in/workspace.readonly[12]", enable_with },
    });

  it.each([
    ["by containment", denied("containment", "take it out"), true],
    ["by approval", denied("approval", "take it out"), false],
    ["without a word of what would allow it", denied("containment", ""), false],
  ])("that expects a denial is answered %s: %s, %s", (_, summary, holds) => {
    expect(deniedBy("built-in/workspace.readonly[*]").test(summary)).toBe(holds);
    expect(deniedBy("built-in/workspace.readonly[1]").test(summary)).toBe(false);
  });
});

describe("an address for the kernel", () => {
  it.each([
    [socketAddress("127.0.0.1", 8080), "%02001f907f0000010000000000000000 16"],
    [socketAddress("::1", 1), "%0a000001000000000000000000000000000000000000000100000000 28"],
    [socketAddress("fd00:ec2::254", 80), "%0a00005000000000fd000ec200000000000000000000025400000000 28"],
    [unixAddress("/a"), "%01002f6100 5"],
    [unixAddress("\0a"), "%01000061 4"],
  ])("%s", (made, expected) => {
    expect(made).toBe(expected);
  });
});

describe("the report", () => {
  it("has a row for each attack, says what was attacked, and hides no control character", () => {
    const attacks = [
      { id: "FS-15", title: "Moved `away`", outcome: "contained" as const, evidence: "EBUSY", ms: 1 },
      { id: "P-07", title: "A namespace", outcome: "not_contained" as const, evidence: "\u001b[2Jok", ms: 1 },
      { id: "P-20", title: "32 bits", outcome: "not_applicable" as const, evidence: "one convention", ms: 1 },
    ];
    const report = { engine: "Docker 1", image: "i", image_digest: "d", uid: 1000, attacks, exit_code: 5 };
    expect(reportLines(report, NO_PAINT)).toEqual([
      "id     tried        contained          seen",
      "FS-15  Moved away   yes                EBUSY",
      "P-07   A namespace  NO                 \\x1b[2Jok",
      "P-20   32 bits      cannot exist here  one convention",
      "",
      "1 of 3 attacks contained, 1 not contained, 1 cannot exist here (Docker 1, image i, commands as uid 1000)",
    ]);
  });
});
