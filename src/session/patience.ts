import type { RunClock } from "../agent/limits.ts";
import type { HostApprover } from "../egress/host-approver.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

type Working = Pick<Sandbox, "call" | "failure">;
type Run = { clock: Pick<RunClock, "pause" | "resume">; signal: AbortSignal };

/**
 * A run waits for a person who is asked for a host as it does for one who is asked for a call: while the call that wants
 * the host runs. What a job wants that outlived its call holds nothing up.
 */
export class Patience {
  #run: Run | undefined;
  /** Of each running call, what lets the clock go on that stands still for it. */
  readonly #running = new Map<string, Set<() => void>>();

  /** Of the run that is under way from now on; undefined when none is. */
  set run(run: Run | undefined) {
    this.#run = run;
  }

  /** Asks as `approver` does: the time of the call is not the run's, and the question is taken back when that is aborted. */
  over(approver: HostApprover): HostApprover {
    return {
      by: approver.by,
      ask: async (question, signal) => {
        const run = this.#run;
        const goOn = this.#standStill(question.callId, run?.clock);
        try {
          return await approver.ask(question, run ? AbortSignal.any([signal, run.signal]) : signal);
        } finally {
          goOn();
        }
      },
    };
  }

  /** Calls of `sandbox`, each known to be running while it is. */
  during(sandbox: Working): Working {
    return {
      get failure() {
        return sandbox.failure;
      },
      call: (call, options) => this.#whileRunning(call.callId, () => sandbox.call(call, options)),
    };
  }

  async #whileRunning<T>(callId: string | undefined, work: () => Promise<T>): Promise<T> {
    if (callId === undefined) return work();
    const waits = new Set<() => void>();
    this.#running.set(callId, waits);
    try {
      return await work();
    } finally {
      for (const goOn of waits) goOn();
      if (this.#running.get(callId) === waits) this.#running.delete(callId);
    }
  }

  /** Until the call has ended, or what it returns is called. */
  #standStill(callId: string | null, clock: Run["clock"] | undefined): () => void {
    const waits = callId === null ? undefined : this.#running.get(callId);
    if (!clock || !waits) return () => undefined;
    const goOn = (): void => {
      if (waits.delete(goOn)) clock.resume();
    };
    clock.pause();
    waits.add(goOn);
    return goOn;
  }
}
