import type { RunClock } from "../agent/limits.ts";
import type { HostApprover } from "../egress/host-approver.ts";

type Run = { clock: Pick<RunClock, "pause" | "resume">; signal: AbortSignal };

/** A run waits for a person who is asked for a host as it does for one who is asked for a call. */
export class Patience {
  #run: Run | undefined;

  /** Of the run that is under way from now on; undefined when none is. */
  set run(run: Run | undefined) {
    this.#run = run;
  }

  /** Asks as `approver` does: the time is not the run's, and the question is taken back when the run is aborted. */
  over(approver: HostApprover): HostApprover {
    return {
      by: approver.by,
      ask: async (question, signal) => {
        const run = this.#run;
        run?.clock.pause();
        try {
          return await approver.ask(question, run ? AbortSignal.any([signal, run.signal]) : signal);
        } finally {
          run?.clock.resume();
        }
      },
    };
  }
}
