import { expect, test } from "vitest";
import type { Fact } from "../../../src/core/events.ts";
import type { ToolDetails } from "../../../src/core/tool-result.ts";
import { Tally } from "../../../src/session/tally.ts";

const changed = (details: ToolDetails): Fact => ({
  type: "tool_result",
  call_id: "c",
  tool_name: "write",
  status: "ok",
  content: [{ type: "text", text: "done" }],
  is_error: false,
  duration_ms: 1,
  details,
});

const NEW_FILE = "--- /dev/null\n+++ b/f\n@@ -0,0 +1,3000 @@\n+a\n… 2999 more lines of diff\n";

test.each<[string, ToolDetails[], { kind: string; added: number; removed: number }[]]>([
  [
    "of a diff that was cut are all lines",
    [{ path: "/f", added: 3000, removed: 0, diff: NEW_FILE }],
    [{ kind: "created", added: 3000, removed: 0 }],
  ],
  [
    "of several changes of a file are added up",
    [
      { path: "/f", added: 3000, removed: 0, diff: NEW_FILE },
      { path: "/f", added: 1, removed: 2, diff: "--- a/f\n+++ b/f\n" },
    ],
    [{ kind: "created", added: 3001, removed: 2 }],
  ],
  [
    "in a log without counts are those of the diff",
    [{ path: "/f", diff: "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a\n+b\n+c\n" }],
    [{ kind: "changed", added: 2, removed: 1 }],
  ],
  ["of the same content again are none, and the file is not changed", [{ path: "/f", added: 0, removed: 0 }], []],
])("the lines counted %s", (_, results, files) => {
  const tally = new Tally();
  for (const details of results) tally.add(changed(details));
  expect(tally.counted.files_changed).toEqual(files.map((file) => ({ path: "/f", ...file })));
});
