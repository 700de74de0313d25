import { relative, resolve } from "node:path";
import { messageOf, systemCode } from "../core/errors.ts";
import { isWithin } from "../core/path-rules.ts";
import type { ToolDetails } from "../core/tool-result.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
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
  const shown = path === undefined ? "the path" : shownLine(path);
  if (code === "EROFS" || code === "EBUSY") return readonlyOutcome(shown, path, hello);
  const words = code === undefined ? undefined : SYSTEM_WORDS[code];
  if (words !== undefined) return outcome("failed", `${shown}: ${words}`);
  return outcome("failed", `${shown}: ${shownLine(messageOf(thrown))}`);
}

/** A name may hold what a terminal acts on, and four thousand bytes of it. */
function shownLine(text: string): string {
  return visibleLine(clip(text, 400));
}

function readonlyOutcome(shown: string, path: string | undefined, hello: Hello): Outcome {
  const inside = path === undefined ? undefined : inWorkspace(path, hello);
  const match =
    inside === undefined
      ? undefined
      : [...hello.hidden, ...hello.readonly].find((entry) => isWithin(inside, entry.path));
  if (match) return contained(`${shown}: read-only`, match.rule);
  return contained(
    `${shown}: read-only`,
    "built-in/container.root",
    `write below ${hello.root}, ${hello.home} or /tmp`,
  );
}

/** Words for a path whose content the policy hides; undefined for any other. The wall is what covers it. */
export function hiddenOutcome(path: string, hello: Hello): Outcome | undefined {
  const inside = inWorkspace(path, hello);
  const match = inside === undefined ? undefined : hello.hidden.find((entry) => isWithin(inside, entry.path));
  return match && contained(`${shownLine(path)}: hidden`, match.rule);
}

function contained(words: string, rule: string, enable = OPENED_BY): Outcome {
  return {
    ...outcome("denied", `${words} by policy rule ${rule}; ${enable}`),
    denial: { by: "containment", rule, enable_with: enable },
  };
}

const OPENED_BY = "only a person can open it, in their own policy; work elsewhere in the workspace";

/** A path relative to the workspace, `.` for itself; undefined for one outside. */
function inWorkspace(path: string, { root }: Hello): string | undefined {
  const inside = relative(root, resolve(root, path));
  return inside === ".." || inside.startsWith("../") ? undefined : inside || ".";
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
  EIO: "cannot be read or written here (input/output error)",
  EINVAL: "cannot be read or written here (invalid argument)",
  ENXIO: "is a socket or a device without a reader, not a regular file",
};
