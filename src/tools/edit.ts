import * as z from "zod";
import { isJsonObject } from "../core/json.ts";
import { defineTool, FILE_TOOL_DEADLINE_MS } from "./contract.ts";
import { ourNameFor } from "./other-names.ts";

const EDIT_NAMES = ["oldText", "newText"];

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

/** Models also send one edit at top level, or one for the list. What is wrong with it is said where it belongs. */
function collectEdits(raw: Record<string, unknown>): Record<string, unknown> {
  if (isJsonObject(raw["edits"])) return { ...raw, edits: [raw["edits"]] };
  if (raw["edits"] !== undefined && raw["edits"] !== null) return raw;
  const entries = Object.entries(raw);
  const edit = entries.filter(([name]) => isOfEdit(name));
  if (edit.length === 0) return raw;
  return { ...Object.fromEntries(entries.filter(([name]) => !isOfEdit(name))), edits: [Object.fromEntries(edit)] };
}

function isOfEdit(name: string): boolean {
  return EDIT_NAMES.includes(name) || ourNameFor(name, EDIT_NAMES) !== undefined;
}
