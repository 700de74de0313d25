import * as z from "zod";
import { MAX_COMMAND_BYTES } from "./bash.ts";
import { defineTool } from "./contract.ts";

/** Seconds a call waits for output unless it says otherwise, and the most it can ask for. */
export const PTY_WAIT = { default: 1, max: 60 } as const;

/** The longest text one call types: more than a person ever would, and a file is the place for it. */
export const MAX_TYPED_CHARS = 64 * 1024;

const parameters = z.strictObject({
  action: z.enum(["start", "send", "read", "kill"]),
  command: z.string().max(MAX_COMMAND_BYTES).optional().describe("start: what to run"),
  id: z.int().min(1).optional().describe("send, read, kill: the job that start named"),
  text: z
    .string()
    .min(1)
    .max(MAX_TYPED_CHARS)
    .optional()
    .describe("send: typed as it is; \\n is Enter, \\u0003 Ctrl-C, \\u0004 Ctrl-D"),
  wait: z
    .number()
    .min(0)
    .max(PTY_WAIT.max)
    .optional()
    .describe(`seconds to wait for output, default ${PTY_WAIT.default}; less when it falls quiet`),
});

/** What each action needs, and takes, beside `wait`. */
const NEEDS: Record<z.infer<typeof parameters>["action"], readonly ("command" | "id" | "text")[]> = {
  start: ["command"],
  send: ["id", "text"],
  read: ["id"],
  kill: ["id"],
};

export const pty = defineTool({
  name: "pty",
  description:
    "Run a program on a terminal of 40 lines by 120 columns and type into it: REPLs, debuggers, prompts. It begins with the directory and variables of bash and changes neither. It is a background job too. Shows new output without escape sequences.",
  parameters: parameters.superRefine((args, context) => {
    for (const problem of problemsOf(args)) context.addIssue(problem);
  }),
  // What is typed may be a command, so the rules for commands judge it.
  effects: ({ action, command, text }) =>
    action === "read" || action === "kill"
      ? [{ kind: "read", path: "." }]
      : [{ kind: "exec", command: (action === "send" ? text : command) ?? "" }],
  within: (args, seconds) => ((args.wait ?? PTY_WAIT.default) > seconds ? { ...args, wait: seconds } : args),
  replay: "never",
  deadlineMs: ({ wait }) => (wait ?? PTY_WAIT.default) * 1000 + 60_000,
});

function problemsOf(args: z.infer<typeof parameters>): string[] {
  const needed = NEEDS[args.action];
  return (["command", "id", "text"] as const).flatMap((name) => {
    const isGiven = args[name] !== undefined;
    if (isGiven === needed.includes(name)) return [];
    return isGiven ? [`\`${args.action}\` takes no \`${name}\``] : [`\`${args.action}\` needs \`${name}\``];
  });
}
