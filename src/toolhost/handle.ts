import { systemCode } from "../core/errors.ts";
import type { Hello, Outcome } from "../protocol/messages.ts";
import type { ToolName } from "../tools/catalogue.ts";
import type { CallContext, Handler, Handlers } from "./context.ts";
import { handleEdit } from "./files/edit.ts";
import { handleLs } from "./files/ls.ts";
import { realTarget, resolvePath } from "./files/paths.ts";
import { handleRead } from "./files/read.ts";
import { handleWrite } from "./files/write.ts";
import { failureOutcome, hiddenOutcome } from "./outcomes.ts";
import { handleFind } from "./search/find.ts";
import { handleGrep } from "./search/grep.ts";
import { absenceWords } from "./whereabouts.ts";

/** The handlers that need no shell. */
export const FILE_HANDLERS: Omit<Handlers, "bash" | "pty"> = {
  read: handleRead,
  write: handleWrite,
  edit: handleEdit,
  ls: handleLs,
  grep: handleGrep,
  find: handleFind,
};

/** Carries out a call by its handler; `args` were parsed by the very contract that was written for. Never rejects. */
export async function handle(
  handler: Handler<ToolName>,
  args: Record<string, unknown>,
  context: CallContext,
): Promise<Outcome> {
  const { hello } = context.host;
  const path = typeof args["path"] === "string" ? args["path"] : undefined;
  const hidden = path === undefined ? undefined : await hiddenBy(path, hello);
  if (hidden) return hidden;
  try {
    return await (handler as (args: unknown, context: CallContext) => Promise<Outcome>)(args, context);
  } catch (error) {
    if (path === undefined) return failureOutcome(error, path, hello);
    const failure = failureOutcome(error, path, hello, await realOf(path, hello));
    return systemCode(error) === "ENOENT" ? withWords(failure, absenceWords(path, hello)) : failure;
  }
}

async function hiddenBy(path: string, hello: Hello): Promise<Outcome | undefined> {
  // Each call would pay for what nearly no session has.
  if (hello.hidden.length === 0) return undefined;
  return hiddenOutcome(path, hello, await realOf(path, hello));
}

/** Where links lead; undefined for what no system call can follow, which the handler says better. */
async function realOf(path: string, hello: Hello): Promise<string | undefined> {
  try {
    return await realTarget(resolvePath(path, hello));
  } catch {
    return undefined;
  }
}

function withWords(outcome: Outcome, words: string | undefined): Outcome {
  if (words === undefined) return outcome;
  const content = outcome.content.map((part) =>
    part.type === "text" ? { ...part, text: `${part.text}; ${words}` } : part,
  );
  return { ...outcome, content };
}
