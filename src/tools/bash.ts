import * as z from "zod";
import { defineTool, FILE_TOOL_DEADLINE_MS } from "./contract.ts";

/** Seconds a command may run unless it asks for more, and the most it can ask for. */
export const BASH_SECONDS = { default: 120, max: 3600 } as const;

/** The longest command text, in bytes: far above any real script, far below what a frame queue should hold. */
export const MAX_COMMAND_BYTES = 1024 * 1024;

const parameters = z.strictObject({
  command: z.string().optional(),
  timeout: z
    .number()
    .gt(0, "Too small: a time in seconds is more than 0")
    .max(BASH_SECONDS.max, `Too big: at most ${BASH_SECONDS.max} seconds; for longer ones there is \`background\``)
    .optional()
    .describe(`seconds, default ${BASH_SECONDS.default}`),
  background: z.boolean().optional().describe("return at once; for servers"),
  job: z.int().min(0).optional().describe("instead of command: state and new output of this background job; 0 lists"),
  kill: z.boolean().optional().describe("end that job"),
});

export const bash = defineTool({
  name: "bash",
  description:
    "Run a bash command in the workspace. Directory, variables and functions persist between calls. No stdin, no terminal. Of long output the end is shown.",
  parameters: parameters.superRefine((args, context) => {
    const problem = problemOf(args);
    if (problem !== undefined) context.addIssue(problem);
  }),
  prepare: withoutEmptyCommand,
  // What a job printed was allowed when its command was, and it ends with the session anyhow.
  effects: ({ command, job }) =>
    job === undefined ? [{ kind: "exec", command: command ?? "" }] : [{ kind: "read", path: "." }],
  within: (args, seconds) =>
    args.job === undefined && (args.timeout ?? BASH_SECONDS.default) > seconds ? { ...args, timeout: seconds } : args,
  replay: "never",
  // The limit is enforced inside; the controller only gives up when that has clearly failed.
  deadlineMs: ({ timeout, job }) =>
    job === undefined ? (timeout ?? BASH_SECONDS.default) * 1000 + 10_000 : FILE_TOOL_DEADLINE_MS,
});

/** Some models send every parameter there is, the ones they do not mean empty. */
function withoutEmptyCommand(raw: Record<string, unknown>): Record<string, unknown> {
  const { command, ...rest } = raw;
  return command === "" && rest["job"] !== undefined && rest["job"] !== null ? rest : raw;
}

function problemOf({ command, timeout, background, job, kill }: z.infer<typeof parameters>): string | undefined {
  if (job === undefined) {
    if (kill) return "`kill` ends a background job: name it with `job`";
    return command === undefined ? "`command` is missing; without one only `job` can be asked for" : undefined;
  }
  if (command !== undefined) return "`command` runs something, `job` looks at a background job: send one of the two";
  if (timeout !== undefined || background) return "`timeout` and `background` go with `command`, not with `job`";
  return kill && job === 0 ? "`job` 0 lists all jobs; `kill` needs the id of one" : undefined;
}
