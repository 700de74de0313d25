import * as z from "zod";
import { defineTool, FILE_TOOL_DEADLINE_MS } from "./contract.ts";

export const find = defineTool({
  name: "find",
  description: "Find files by glob, such as src/**/*.ts. Skips ignored files.",
  parameters: z.strictObject({
    pattern: z.string().min(1),
    path: z.string().min(1).optional(),
    limit: z.int().min(1).max(100_000).optional().describe("default 1000"),
  }),
  effects: ({ path }) => [{ kind: "read", path: path ?? "." }],
  replay: "safe",
  deadlineMs: () => FILE_TOOL_DEADLINE_MS,
});
