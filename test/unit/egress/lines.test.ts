import { describe, expect, it } from "vitest";
import type { Note } from "../../../src/egress/ledger.ts";
import { linesOf } from "../../../src/egress/lines.ts";
import { NOTHING_INSIDE } from "../../support/egress/gate-world.ts";

const note: Note = {
  host: "a.test",
  port: 443,
  verdict: "denied",
  why: "no rule admits it",
  rule: "built-in/network.allow",
  enableWith: 'add "a.test" to `network.allow`',
  count: 1,
  isLate: false,
  isAssumed: false,
};

describe("what a call is told of its connections", () => {
  it("is nothing when nothing was refused", () => {
    expect(linesOf({ notes: [], more: 0 }, NOTHING_INSIDE)).toEqual([]);
  });

  it("is a line for each place, with why and what a person can do, and one for each thing inside", () => {
    const inside = {
      unreachable: 3,
      otherQuestions: 1,
      taken: [
        { name: "a.test", port: 443, process: "nginx" },
        { name: "b.test", port: 443, process: "nginx" },
      ],
      heldPorts: [443, 80],
    };
    const notes = [note, { ...note, port: null, isLate: true, count: 2 }];
    expect(linesOf({ notes, more: 0 }, inside)).toEqual([
      'Refused: `a.test:443` (rule `built-in/network.allow`): no rule admits it. What a person can do: add "a.test" to `network.allow`',
      'Refused for a job in the background: `a.test`, 2 times (rule `built-in/network.allow`): no rule admits it. What a person can do: add "a.test" to `network.allow`',
      "3 connections to addresses had no route: only names that the policy admits can be reached",
      "1 question for names went unanswered: only addresses are answered, no TXT, MX, SRV",
      "`a.test:443`, and 1 more cannot be reached while `nginx` listens on that port: let it listen on 127.0.0.1 only",
      "A program could not listen on 443, 80: hosts are reached by it; listen on 127.0.0.1 or another port",
    ]);
  });

  it("is one line for a host and port, and each host before any a second time", () => {
    const failed = { ...note, verdict: "failed", why: "reset", enableWith: undefined } as const;
    const notes = [note, { ...note, port: 80 }, { ...failed, count: 3 }, { ...failed, host: "b.test" }];
    expect(linesOf({ notes, more: 0 }, NOTHING_INSIDE).map((line) => line.split(": ").slice(0, 2).join(": "))).toEqual([
      "Refused: `a.test:443`, and 3 other refusals (rule `built-in/network.allow`)",
      "Not reached: `b.test:443`",
      "Refused: `a.test:80` (rule `built-in/network.allow`)",
    ]);
  });

  it("is twelve lines at most, each of bounded length, in which nothing hostile is left", () => {
    const hostile = "\x1b[31m\n\u202ex".repeat(200);
    const notes = Array.from({ length: 50 }, (_, index) => ({
      ...note,
      host: `h${index}${hostile}`,
      why: hostile,
      count: 2,
    }));
    const taken = Array.from({ length: 20 }, () => ({ name: hostile, port: 1, process: hostile }));
    const heldPorts = Array.from({ length: 100 }, (_, index) => index + 1);
    const lines = linesOf({ notes, more: 5 }, { unreachable: 1, otherQuestions: 2, taken, heldPorts });
    expect([lines.length, lines[7]]).toEqual([12, "91 more connections or names came to nothing"]);
    expect(lines.every((line) => line.length <= 740)).toBe(true);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(lines.join("")).not.toMatch(/[\x00-\x1f\u202e]/);
  });
});
