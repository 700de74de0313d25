import type { Outcome } from "../protocol/messages.ts";
import type { ToolName } from "../tools/catalogue.ts";
import type { CallContext, Handler, Handlers } from "./context.ts";
import { handleEdit } from "./files/edit.ts";
import { handleLs } from "./files/ls.ts";
import { handleRead } from "./files/read.ts";
import { handleWrite } from "./files/write.ts";
import { failureOutcome, hiddenOutcome } from "./outcomes.ts";
import { handleFind } from "./search/find.ts";
import { handleGrep } from "./search/grep.ts";

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
  const hidden = path === undefined ? undefined : hiddenOutcome(path, hello);
  if (hidden) return hidden;
  try {
    return await (handler as (args: unknown, context: CallContext) => Promise<Outcome>)(args, context);
  } catch (error) {
    return failureOutcome(error, path, hello);
  }
}
