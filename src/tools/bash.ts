import * as z from "zod";
import { defineTool } from "./contract.ts";

/** Seconds a command may run unless it asks for more, and the most it can ask for. */
export const BASH_SECONDS = { default: 120, max: 3600 } as const;

/** The longest command text, in bytes: far above any real script, far below what a frame queue should hold. */
export const MAX_COMMAND_BYTES = 1024 * 1024;

export const bash = defineTool({
  name: "bash",
  description:
    "Run a bash command in the workspace. Directory, variables and functions persist between calls. No stdin, no terminal. Of long output the end is shown.",
  parameters: z.strictObject({
    command: z.string(),
    timeout: z.number().gt(0).max(BASH_SECONDS.max).optional().describe(`seconds, default ${BASH_SECONDS.default}`),
    background: z.boolean().optional().describe("return at once; for servers"),
  }),
  effects: ({ command }) => [{ kind: "exec", command }],
  within: (args, seconds) => ((args.timeout ?? BASH_SECONDS.default) > seconds ? { ...args, timeout: seconds } : args),
  replay: "never",
  // The limit is enforced inside; the controller only gives up when that has clearly failed.
  deadlineMs: ({ timeout }) => (timeout ?? BASH_SECONDS.default) * 1000 + 10_000,
});
