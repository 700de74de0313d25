import { expect, test } from "vitest";
import { paintFor } from "../../../src/cli/paint.ts";
import { Transcript } from "../../../src/cli/transcript.ts";
import type { EventLine } from "../../../src/session/history.ts";
import { fakeIo } from "./fake-io.ts";

const header = {
  type: "session",
  version: 1,
  id: "i",
  created_at: "2026-01-01T00:00:00.000Z",
  cwd: "/w",
  workspace_id: "",
  app_version: "1",
} as const;
const summary = { header, outcome: "completed", turns: 1, toolCalls: 1, prompt: "p", isTorn: false } as const;

const edited: EventLine = {
  id: "e",
  seq: 1,
  mono: 0,
  parent_id: null,
  ts: header.created_at,
  type: "tool_result",
  call_id: "c",
  tool_name: "edit",
  status: "ok",
  content: [{ type: "text", text: "Edited f" }],
  is_error: false,
  duration_ms: 1,
  details: { added: 900, removed: 7, diff: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+\u001b[2Jb\n" },
};

function lines(diff: boolean): string[] {
  const io = fakeIo();
  const transcript = new Transcript(summary, { columns: 80, paint: paintFor(io.stdout, io.env), diff });
  return transcript.lines({ type: "event", event: edited });
}

test("a transcript shows the diff of each change when it is asked for, and no control character of it", () => {
  expect(lines(true)).toEqual([
    "✓ edit  +900 -7  1 ms",
    "    Edited f",
    "    --- a/f",
    "    +++ b/f",
    "    @@ -1 +1 @@",
    "    -a",
    "    +\\x1b[2Jb",
  ]);
});

test("a transcript has no diff otherwise, and the counts of the whole change", () => {
  expect(lines(false)).toEqual(["✓ edit  +900 -7  1 ms", "    Edited f"]);
});
