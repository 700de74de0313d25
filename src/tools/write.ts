import * as z from "zod";
import { defineTool, FILE_TOOL_DEADLINE_MS } from "./contract.ts";

export const write = defineTool({
  name: "write",
  description: "Create or replace a file with exactly this content. Makes parent directories.",
  parameters: z.strictObject({ path: z.string().min(1), content: z.string() }),
  effects: ({ path }) => [{ kind: "write", path }],
  replay: "never",
  deadlineMs: () => FILE_TOOL_DEADLINE_MS,
});
