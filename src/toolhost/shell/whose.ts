import type { ShellParts } from "./parts.ts";
import { keyOf } from "./process-table.ts";

/** Tells which call of the model a process works for. */
export type Whose = {
  /** The call whose command runs now; there is one at a time. */
  running(): number | undefined;
  /** Whether processes of earlier calls may live. */
  hasJobs(): boolean;
  /** The call that made the newest of the jobs that live. */
  latest(): number | undefined;
  /** The call of the process that `matches`; undefined when there is none, or it is of a job nobody remembers. */
  callOf(matches: (pid: number) => boolean): number | undefined;
};

export function createWhose(parts: ShellParts, running: () => number | undefined): Whose {
  const { jobs, scope } = parts;
  return {
    running,
    hasJobs: () => jobs.anyAlive,
    latest: () => jobs.latestCall,
    callOf(matches) {
      const live = scope.session();
      const owned = jobs.owned(live);
      const found = live.findLast((proc) => matches(proc.pid));
      if (found === undefined) return undefined;
      return owned.has(keyOf(found)) ? jobs.callOf(found) : running();
    },
  };
}
