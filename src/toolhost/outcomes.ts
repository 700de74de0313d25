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
 * containment that names the rule. `real` is where `path` leads once links are followed; absent where nobody knows.
 */
export function failureOutcome(thrown: unknown, path: string | undefined, hello: Hello, real?: string): Outcome {
  // It may be a limit that a command took from us, and then a new tool host will do better.
  ownLimits.require();
  if (thrown instanceof ToolFailure) return outcome("failed", thrown.message, thrown.details);
  if (thrown instanceof Refusal) return { ...outcome("denied", thrown.message), denial: thrown.denial };
  const code = systemCode(thrown);
  const shown = path === undefined ? "the path" : shownLine(path);
  if (code === "EROFS" || code === "EBUSY") return readonlyOutcome(shown, real ?? path, hello);
  const words = code === undefined ? undefined : SYSTEM_WORDS[code];
  if (words !== undefined) return outcome("failed", `${shown}: ${words}`);
  return outcome("failed", `${shown}: ${shownLine(messageOf(thrown))}`);
}

/** A name may hold what a terminal acts on, and four thousand bytes of it. */
function shownLine(text: string): string {
  return visibleLine(clip(text, 400));
}

function readonlyOutcome(shown: string, real: string | undefined, hello: Hello): Outcome {
  const inside = real === undefined ? undefined : inWorkspace(real, hello);
  const match = inside === undefined ? undefined : ruleOf(inside, [...hello.hidden, ...hello.readonly]);
  const next = writableWords(hello);
  if (match) return contained(`${shown}: read-only`, { rule: match.rule, enable: OPENED_BY, next });
  return contained(`${shown}: read-only`, { rule: "built-in/container.root", enable: NOT_OPENED, next });
}

/**
 * Words for a path whose content the policy hides, by its own name or through the links that lead to `real`; undefined
 * for any other. The wall is what covers it.
 */
export function hiddenOutcome(path: string, hello: Hello, real?: string): Outcome | undefined {
  const places = [path, ...(real === undefined ? [] : [real])].map((place) => inWorkspace(place, hello));
  const [match] = places.flatMap((inside) => (inside === undefined ? [] : (ruleOf(inside, hello.hidden) ?? [])));
  const next = "work without it";
  return match && contained(`${shownLine(path)}: hidden`, { rule: match.rule, enable: OPENED_BY, next });
}

/** Of several rules the one that names the innermost path: a whole workspace may be read-only as well. */
function ruleOf(inside: string, entries: Hello["readonly"]): Hello["readonly"][number] | undefined {
  const holding = entries.filter(({ path }) => isWithin(inside, path));
  return holding.find(({ path }) => path !== ".") ?? holding[0];
}

/** `enable` is what a person could do, `next` what the model can: a person is not told that. */
function contained(words: string, { rule, enable, next }: { rule: string; enable: string; next: string }): Outcome {
  return {
    ...outcome("denied", `${words} by policy rule ${rule}; ${enable}; ${next}`),
    denial: { by: "containment", rule, enable_with: enable },
  };
}

const OPENED_BY = "only a person can open it, in their own policy";
const NOT_OPENED = "no policy opens it, only another image (`--image`) has other files there";

const MAX_NAMED = 5;

function writableWords(hello: Hello): string {
  const open = writableIn(hello);
  const more = open.length - MAX_NAMED;
  const named = [...open.slice(0, MAX_NAMED).map(shownLine), ...(more > 0 ? [`${more} more of the workspace`] : [])];
  return `write in ${[...named, hello.home].join(", ")} or /tmp`;
}

/** The outermost mounts of the workspace that can be written: itself, or what a policy names in it. */
function writableIn({ root, mounts, readonly, hidden }: Hello): string[] {
  if (!readonly.some(({ path }) => path === ".")) return [root];
  const closed = new Set([...readonly, ...hidden].map(({ path }) => resolve(root, path)));
  const open = mounts.filter((mount) => !closed.has(mount));
  return open.filter((mount) => !open.some((other) => other !== mount && isWithin(mount, other)));
}

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
