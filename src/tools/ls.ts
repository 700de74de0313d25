import * as z from "zod";
import { defineTool, FILE_TOOL_DEADLINE_MS } from "./contract.ts";

export const ls = defineTool({
  name: "ls",
  description: "List a directory, hidden entries included.",
  parameters: z.strictObject({
    path: z.string().min(1).optional(),
    limit: z.int().min(1).max(10_000).optional().describe("default 500"),
  }),
  effects: ({ path }) => [{ kind: "read", path: path ?? "." }],
  replay: "safe",
  deadlineMs: () => FILE_TOOL_DEADLINE_MS,
});
