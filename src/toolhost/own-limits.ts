import { openSync, readSync } from "node:fs";

/** What the tool host ends with when a command has taken its limits away (EX_OSERR of sysexits.h). */
const EXIT_CODE = 71;

type Limit = { name: string; soft: number; hard: number };

/** The tool host's own resource limits, which a command of the same user can lower by prlimit(2). */
export type OwnLimits = {
  /**
   * Ends the process when a limit is lower than at the start: nobody inside can raise it again, every command would
   * inherit it, and a tool host that the engine starts anew has what the container gives.
   */
  require(): void;
};

/** `read` and `end` are other than this process's in tests only. */
export function watchLimits(read: () => string, end: (why: string) => void): OwnLimits {
  const before = tryToRead(read);
  return {
    require() {
      if (before === undefined) return;
      const now = tryToRead(read);
      if (now === before) return;
      const lowered = now === undefined ? ["all, as they cannot be read any more"] : loweredLimits(before, now);
      if (lowered.length > 0) end(`A command has lowered limits of the tool host: ${lowered.join(", ")}`);
    },
  };
}

/** Names of the limits in `now` that are below those in `before`; both are `/proc/PID/limits`. */
export function loweredLimits(before: string, now: string): string[] {
  const current = new Map(parseLimits(now).map((limit) => [limit.name, limit]));
  return parseLimits(before).flatMap(({ name, soft, hard }) => {
    const limit = current.get(name);
    return limit && limit.soft >= soft && limit.hard >= hard ? [] : [name];
  });
}

/** Lines such as `Max open files            1024                 524288               files`. */
function parseLimits(text: string): Limit[] {
  return [...text.matchAll(/^(Max [a-z -]+?) +(\d+|unlimited) +(\d+|unlimited)(?: |$)/gm)].map(
    ([, name = "", soft = "", hard = ""]) => ({ name, soft: numberOf(soft), hard: numberOf(hard) }),
  );
}

function numberOf(text: string): number {
  return text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text);
}

function tryToRead(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Kept open, so that a limit on open files does not hide itself; each read at 0 asks the kernel anew. */
function reader(): () => string {
  const fd = openSync("/proc/self/limits", "r");
  const buffer = Buffer.alloc(4096);
  return () => buffer.toString("latin1", 0, readSync(fd, buffer, 0, buffer.length, 0));
}

function end(why: string): void {
  process.stderr.write(`${why}\n`);
  process.exit(EXIT_CODE);
}

let read: (() => string) | undefined;
/** The limits this process was started with. */
export const ownLimits = watchLimits(() => {
  read ??= reader();
  return read();
}, end);
