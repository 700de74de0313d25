import { closeSync, constants, existsSync, openSync, readSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import type { Hello } from "../protocol/messages.ts";

/** PATH_MAX, and the line's end. */
const MAX_BYTES = 4097;

/**
 * Words for a relative path at which nothing is, while the shell is in another directory than the workspace: there the
 * model may have looked for it. Undefined where it is no matter of that.
 */
export function absenceWords(path: string, { root, state }: Hello): string | undefined {
  const directory = shellDirectory(join(state, "shell-state"));
  if (directory === undefined || directory === root || isAbsolute(path) || path.startsWith("~")) return undefined;
  const there = join(directory, path);
  const next = existsSync(there) ? `: name \`${shown(there)}\`` : "";
  return `paths are relative to ${shown(root)} also after a cd, and bash is in ${shown(directory)}${next}`;
}

/** The first field of what the last command left of its state; undefined before the first, and for a name not UTF-8. */
function shellDirectory(file: string): string | undefined {
  try {
    const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(MAX_BYTES);
      const [line = ""] = bytes.toString("utf8", 0, readSync(fd, bytes)).split("\n\0", 1);
      return line.startsWith("/") && !line.includes("\0") ? line : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function shown(path: string): string {
  return visibleLine(clip(path, 400));
}
