import type { Outcome } from "../../protocol/messages.ts";
import type { ToolArgs } from "../../tools/catalogue.ts";
import { PTY_WAIT } from "../../tools/pty.ts";
import type { CallContext, Handler } from "../context.ts";
import { cancelled, shownSize } from "../notices.ts";
import { outcome } from "../outcomes.ts";
import { endJob, noSuchJob, showJob } from "../shell/job-call.ts";
import type { Job } from "../shell/job-record.ts";
import { startJob } from "../shell/job-start.ts";
import type { ShellParts } from "../shell/parts.ts";
import { checkText } from "../shell/text.ts";
import { untilQuiet } from "./quiet.ts";

/** Runs what starts a program in turn with the commands of `bash`; `notes` are to be told with its result. */
export type TakeTurn = <T>(context: CallContext, run: (notes: readonly string[]) => Promise<T>) => Promise<T | Outcome>;

/** More than this that a program does not read is not typed by anyone. */
const MAX_UNREAD_BYTES = 1024 * 1024;

type Args = ToolArgs<"pty">;

/** The handler of the `pty` tool: programs on terminals, each of them a background job. */
export function createPty(parts: ShellParts, take: TakeTurn): Handler<"pty"> {
  return async (args, context) => {
    if (args.action === "start") return start(parts, take, args, context);
    const job = parts.jobs.find(args.id ?? 0);
    if (job === undefined) return noSuchJob(parts, args.id ?? 0);
    if (job.terminal === undefined) return noTerminal(job);
    switch (args.action) {
      case "send":
        return send(parts, job, args, context);
      case "read":
        return show(parts, job, args, context);
      case "kill":
        return endJob(parts, job);
      default:
        return args.action satisfies never;
    }
  };
}

async function start(parts: ShellParts, take: TakeTurn, args: Args, context: CallContext): Promise<Outcome> {
  const checked = checkText(args.command ?? "");
  if ("refused" in checked) return outcome("invalid", checked.refused);
  const started = await take(context, (notes) =>
    startJob(
      parts,
      { text: checked.text, notes: [...checked.notes, ...notes], call: context.id },
      parts.hello.programs.terminal,
    ),
  );
  return "status" in started ? started : show(parts, started.job, args, context, started.notices);
}

async function send(parts: ShellParts, job: Job, args: Args, context: CallContext): Promise<Outcome> {
  const output = parts.jobs.outputOf(job.id);
  const input = output?.isOver ? undefined : output?.input;
  if (input === undefined || !input.writable) return showAsFailed(parts, job, "nothing was typed: it has ended");
  if (input.writableLength > MAX_UNREAD_BYTES) {
    const waiting = shownSize(input.writableLength);
    return showAsFailed(parts, job, `nothing was typed: it has not read the ${waiting} that were typed before`);
  }
  input.write(args.text ?? "");
  return show(parts, job, args, context);
}

async function show(
  parts: ShellParts,
  job: Job,
  args: Args,
  context: CallContext,
  notices: readonly string[] = [],
): Promise<Outcome> {
  const output = parts.jobs.outputOf(job.id);
  if (output) await untilQuiet(output, (args.wait ?? PTY_WAIT.default) * 1000, context.signal);
  return context.signal.aborted ? cancelled(`job ${job.id} goes on`) : showJob(parts, job, notices);
}

async function showAsFailed(parts: ShellParts, job: Job, notice: string): Promise<Outcome> {
  return { ...(await showJob(parts, job, [notice])), status: "failed" };
}

function noTerminal({ id }: Job): Outcome {
  return outcome(
    "failed",
    `Job ${id} has no terminal: only what \`pty\` started can be typed into; see it with \`bash\``,
  );
}
