import { systemCode } from "../core/errors.ts";
import type { ToolDetails } from "../core/tool-result.ts";
import type { Hello, Outcome } from "../protocol/messages.ts";
import { ownLimits } from "./own-limits.ts";

type Settled = Outcome["status"];

export function outcome(status: Settled, text: string, details: ToolDetails = {}): Outcome {
  return { status, content: [{ type: "text", text }], details };
}

/** An error the model can mend, thrown by handlers; becomes a `failed` outcome with this text. */
export class ToolFailure extends Error {
  readonly details: ToolDetails;
  constructor(message: string, details: ToolDetails = {}) {
    super(message);
    this.details = details;
  }
}

/** A call that the policy keeps from writing, thrown by handlers before they do. */
export class Refusal extends Error {
  readonly denial: NonNullable<Outcome["denial"]>;
  constructor(message: string, denial: NonNullable<Outcome["denial"]>) {
    super(message);
    this.denial = denial;
  }
}

/**
 * A thrown value as an outcome with words the model can act on. A refusal by a read-only mount is a denial by
 * containment that names the rule.
 */
export function failureOutcome(thrown: unknown, path: string | undefined, hello: Hello): Outcome {
  // It may be a limit that a command took from us, and then a new tool host will do better.
  ownLimits.require();
  if (thrown instanceof ToolFailure) return outcome("failed", thrown.message, thrown.details);
  if (thrown instanceof Refusal) return { ...outcome("denied", thrown.message), denial: thrown.denial };
  const code = systemCode(thrown);
  const shown = path ?? "the path";
  if (code === "EROFS" || code === "EBUSY") return readonlyOutcome(shown, path, hello);
  const words = code === undefined ? undefined : SYSTEM_WORDS[code];
  if (words !== undefined) return outcome("failed", `${shown}: ${words}`);
  return outcome("failed", `${shown}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
}

function readonlyOutcome(shown: string, path: string | undefined, hello: Hello): Outcome {
  const relative = path?.startsWith(`${hello.root}/`) ? path.slice(hello.root.length + 1) : path;
  const isMeant = (entry: string): boolean =>
    entry === "."
      ? relative?.startsWith("/") === false
      : relative === entry || relative?.startsWith(`${entry}/`) === true;
  const match = hello.readonly.find((entry) => isMeant(entry.path));
  const rule = match?.rule ?? "built-in/container.root";
  const enable = match
    ? "only a person can open it, in their own policy; work elsewhere in the workspace"
    : `write below ${hello.root}, ${hello.home} or /tmp`;
  return {
    ...outcome("denied", `${shown}: read-only by policy rule ${rule}; ${enable}`),
    denial: { by: "containment", rule, enable_with: enable },
  };
}

const SYSTEM_WORDS: Record<string, string> = {
  ENOENT: "no such file or directory",
  ENOTDIR: "a part of the path is not a directory",
  EISDIR: "is a directory",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  ELOOP: "too many symbolic links",
  ENAMETOOLONG: "the name is too long",
  ENOSPC: "no space left on the device",
  EEXIST: "already exists",
  ENOTEMPTY: "the directory is not empty",
  EFBIG: "the file is too large",
  EMFILE: "the tool host's limit on open files is reached",
  ENFILE: "the machine's limit on open files is reached",
  EAGAIN: "the limit on processes is reached",
  ENOMEM: "the memory is used up",
  EXDEV: "cannot be moved across mounts",
  ENXIO: "is a socket or a device without a reader, not a regular file",
};
