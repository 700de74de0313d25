import * as z from "zod";
import { defineTool, FILE_TOOL_DEADLINE_MS } from "./contract.ts";

export const grep = defineTool({
  name: "grep",
  description: "Search file contents by regular expression (ripgrep). Skips ignored files.",
  parameters: z.strictObject({
    pattern: z.string().min(1),
    path: z.string().min(1).optional(),
    glob: z.string().min(1).optional().describe("only files that match"),
    ignoreCase: z.boolean().optional(),
    literal: z.boolean().optional().describe("pattern is plain text"),
    context: z.int().min(0).max(50).optional().describe("lines around a match"),
    limit: z.int().min(1).max(10_000).optional().describe("matches, default 100"),
  }),
  effects: ({ path }) => [{ kind: "read", path: path ?? "." }],
  replay: "safe",
  deadlineMs: () => FILE_TOOL_DEADLINE_MS,
});
