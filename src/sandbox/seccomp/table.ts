import { ABSENT } from "./absent.ts";
import { ALLOWED_FILES } from "./allowed-files.ts";
import { ALLOWED_PROCESSES } from "./allowed-processes.ts";
import { ALLOWED_REST } from "./allowed-rest.ts";
import { REFUSED, REFUSED_MULTIPLEXER } from "./refused.ts";
import type { CallGroup, Verdict } from "./verdict.ts";

/**
 * The names of each verdict; those of `conditions.ts` are in none. Together they are every call of Linux 6.7 up to 456,
 * on every architecture that is filtered: an engine without our default gives `EPERM` for what is missing below the
 * highest number named, and programs that would do without a newer call then fail.
 */
export const NAMES: Record<Verdict, readonly string[]> = {
  allow: namesOf([...ALLOWED_FILES, ...ALLOWED_PROCESSES, ...ALLOWED_REST]),
  EPERM: namesOf(REFUSED),
  EACCES: namesOf(REFUSED_MULTIPLEXER),
  ENOSYS: namesOf(ABSENT),
};

function namesOf(groups: readonly CallGroup[]): string[] {
  return groups.flatMap(({ calls }) => calls.trim().split(/\s+/)).sort();
}
