import * as z from "zod";
import { isJsonObject } from "../core/json.ts";
import { defineTool, FILE_TOOL_DEADLINE_MS } from "./contract.ts";

export const edit = defineTool({
  name: "edit",
  description:
    "Replace exact text in a file. Each oldText must occur exactly once in the original file; edits must not overlap; all or nothing.",
  parameters: z.strictObject({
    path: z.string().min(1),
    edits: z.array(z.strictObject({ oldText: z.string(), newText: z.string() })).min(1),
  }),
  prepare: collectEdits,
  effects: ({ path }) => [{ kind: "write", path }],
  replay: "never",
  deadlineMs: () => FILE_TOOL_DEADLINE_MS,
});

/** Models also send one edit at top level, or the list as a JSON string. */
function collectEdits(raw: Record<string, unknown>): Record<string, unknown> {
  const { oldText, newText, ...rest } = raw;
  if (oldText !== undefined && newText !== undefined && rest["edits"] === undefined) {
    return { ...rest, edits: [{ oldText, newText }] };
  }
  if (isJsonObject(raw["edits"])) return { ...raw, edits: [raw["edits"]] };
  return raw;
}
