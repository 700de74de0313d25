import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RotatingLog } from "../../../src/toolhost/shell/rotating-log.ts";
import { unfinished } from "../../../src/toolhost/shell/unfinished.ts";
import { holds } from "../../support/property.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "glovebox-log-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function readAll(log: RotatingLog, position: number): { text: string; gone: number } {
  const chunks: Buffer[] = [];
  const gone = log.readFrom(position, (chunk) => chunks.push(chunk));
  return { text: Buffer.concat(chunks).toString("latin1"), gone };
}

describe("the log of a job", () => {
  test("gives the end of what was written, without a gap, and counts the rest", () => {
    const chunks = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 60 }), { maxLength: 30 });
    const law = fc.property(chunks, fc.nat(200), fc.integer({ min: 2, max: 100 }), (written, from, room) => {
      const log = RotatingLog.create(join(folder, "log"), room);
      for (const chunk of written) log.write(Buffer.from(chunk));
      const whole = written.join("");
      const position = Math.min(from, whole.length);
      const { text, gone } = readAll(log, position);
      log.close();
      expect(text).toBe(whole.slice(position + gone));
      // Half of the room, or all there was, is always there.
      expect(text.length).toBeGreaterThanOrEqual(Math.min(whole.length - position, Math.floor(room / 2)) - 60);
      expect(text.length).toBeLessThanOrEqual(room);
    });
    holds(law, { numRuns: 300 });
  });

  test("that was left by an earlier tool host is read from its files", () => {
    const log = RotatingLog.create(join(folder, "log"), 8);
    for (const chunk of ["12", "34", "56", "7"]) log.write(Buffer.from(chunk));
    log.close();
    expect(readAll(RotatingLog.left(join(folder, "log")), 0)).toEqual({ text: "1234567", gone: 0 });
  });

  test("whose file was replaced by a link gives nothing of what that leads to", () => {
    const log = RotatingLog.create(join(folder, "log"), 100);
    log.write(Buffer.from("mine"));
    expect(readAll(log, 0)).toEqual({ text: "mine", gone: 0 });
    writeFileSync(join(folder, "other"), "secret");
    rmSync(join(folder, "log"));
    symlinkSync(join(folder, "other"), join(folder, "log"));
    expect(readAll(log, 0)).toEqual({ text: "", gone: 4 });
    log.close();
  });
});

describe("what is shown of output that goes on", () => {
  test("never ends inside a character, and nothing is held back that is whole", () => {
    const law = fc.property(fc.string({ unit: "grapheme" }), fc.nat(400), (text, cut) => {
      const bytes = Buffer.from(`${text}.`);
      const first = bytes.subarray(0, Math.min(cut, bytes.length));
      const shown = first.subarray(0, first.length - unfinished(first));
      const rest = bytes.subarray(shown.length);
      expect(shown.toString() + rest.toString()).toBe(`${text}.`);
      expect(unfinished(bytes)).toBe(0);
    });
    holds(law, { numRuns: 2000 });
  });

  test.each([
    ["a\u001b", 1],
    ["a\u001b[", 2],
    ["a\u001b[1;3", 5],
    ["a\u001b[1;31m", 0],
    ["a\u001b]0;title", 9],
    ["a\u001b]0;title\u0007", 0],
    ["a\r", 1],
    ["a\r\n", 0],
    ["a\u001b(", 2],
    ["a\u001b(B", 0],
  ])("%j has %i bytes that wait for the rest", (text, held) => {
    expect(unfinished(Buffer.from(text))).toBe(held);
  });
});
