import { describe, expect, it } from "vitest";
import { clipToWidth, widthOf } from "../../../src/cli/cells.ts";
import { NO_PAINT } from "../../../src/cli/paint.ts";
import { type RowResult, toolRow } from "../../../src/cli/tool-row.ts";

const base: RowResult = { tool_name: "bash", status: "ok", duration_ms: 12, details: {}, content: [] };

function row(name: string, args: unknown, result: Partial<RowResult>, columns = 80): string {
  const raw = typeof args === "string" ? args : JSON.stringify(args);
  const call = { type: "tool_call" as const, id: "c1", name, arguments: raw };
  return toolRow(call, { ...base, tool_name: name, ...result }, columns, NO_PAINT);
}

describe("a row of a finished call", () => {
  it.each<[string, unknown, Partial<RowResult>, string]>([
    ["bash", { command: "npm test" }, { duration_ms: 1234 }, "✓ bash npm test  1.2 s"],
    ["bash", { command: "a\nb" }, { status: "failed", details: { exit_code: 1 } }, "✗ bash a\\nb  exit 1  12 ms"],
    ["bash", { command: "x" }, { status: "failed", details: { signal: "SIGKILL" } }, "✗ bash x  SIGKILL  12 ms"],
    ["bash", { command: "x", background: true }, { details: { job_id: 2 } }, "✓ bash x &  job 2  12 ms"],
    ["bash", { job: 2 }, { details: { job_id: 2 } }, "✓ bash job 2  12 ms"],
    ["bash", { job: 2, kill: true }, { details: { job_id: 2 } }, "✓ bash kill job 2  12 ms"],
    ["bash", { job: 0 }, {}, "✓ bash jobs  12 ms"],
    ["pty", { action: "start", command: "python3" }, { details: { job_id: 3 } }, "✓ pty python3  job 3  12 ms"],
    ["pty", { action: "send", id: 3, text: "\u0003" }, {}, '✓ pty send 3 "\\u0003"  12 ms'],
    ["pty", { action: "read", id: 3 }, {}, "✓ pty read 3  12 ms"],
    ["bash", { command: "x" }, { status: "timed_out" }, "✗ bash x  timed out  12 ms"],
    ["bash", { command: "x" }, { status: "cancelled" }, "– bash x  cancelled  12 ms"],
    ["bash", { command: "x" }, { status: "lost" }, "✗ bash x  lost  12 ms"],
    ["bash", { command: "x" }, { status: "denied", reason: "denied_user" }, "⊘ bash x  denied by you  12 ms"],
    [
      "bash",
      { command: "x" },
      { status: "denied", denial: { by: "policy", rule: "user/no-push", enable_with: "" } },
      "⊘ bash x  denied by user/no-push  12 ms",
    ],
    ["read", { path: "a.js", offset: 9 }, {}, "✓ read a.js:9  12 ms"],
    ["grep", { pattern: "x+", path: "src" }, {}, "✓ grep x+ in src  12 ms"],
    ["ls", {}, {}, "✓ ls .  12 ms"],
    ["edit", { path: "a.js" }, { details: { diff: "--- a\n+++ b\n-x\n+y\n+z" } }, "✓ edit a.js  +2 -1  12 ms"],
    ["nope", { a: 1 }, {}, '✓ nope {"a":1}  12 ms'],
    ["bash", "{ broken", {}, "✓ bash { broken  12 ms"],
  ])("%s %j", (name, args, result, expected) => {
    expect(row(name, args, result)).toBe(expected);
  });

  it("fits the terminal, whatever the arguments and the reason", () => {
    const content = [{ type: "text" as const, text: "reason ".repeat(50) }];
    for (const columns of [60, 80, 120]) {
      const line = row("bash", { command: "漢字 ".repeat(200) }, { status: "invalid", content }, columns);
      expect(widthOf(line)).toBeLessThanOrEqual(columns);
    }
  });
});

it("text is clipped by columns, not by characters", () => {
  expect(clipToWidth("漢字漢字", 5)).toBe("漢字…");
  expect(clipToWidth("abc", 3)).toBe("abc");
  expect(clipToWidth("abcd", 3)).toBe("ab…");
});
