import * as z from "zod";
import { defineTool, FILE_TOOL_DEADLINE_MS } from "./contract.ts";

export const read = defineTool({
  name: "read",
  description: "Read a text file or image. Shows at most 2000 lines or 50 KiB; continue with offset.",
  parameters: z.strictObject({
    path: z.string().min(1),
    offset: z.int().min(1).optional().describe("first line, from 1"),
    limit: z.int().min(1).optional().describe("lines"),
  }),
  effects: ({ path }) => [{ kind: "read", path }],
  replay: "safe",
  deadlineMs: () => FILE_TOOL_DEADLINE_MS,
});
