import { untilAborted } from "./dial/until-aborted.ts";
import type { HostAnswer, HostApprover, HostQuestion } from "./host-approver.ts";
import type { RecordFact } from "./records.ts";

type Waiting = { answer: Promise<HostAnswer>; waiters: number; calls: Set<string | null>; stop: AbortController };

/** Calls of which a no is remembered; older ones have long ended. */
const MOST_CALLS = 64;

/** The questions of a session: one at a time for a host and port, whoever wants it. */
export class HostQuestions {
  readonly #approver: HostApprover;
  readonly #record: RecordFact;
  readonly #granted = new Set<string>();
  readonly #refused = new Map<string | null, Set<string>>();
  readonly #waiting = new Map<string, Waiting>();

  constructor({ approver, record }: { approver: HostApprover; record: RecordFact }) {
    this.#approver = approver;
    this.#record = record;
  }

  get by(): HostApprover["by"] {
    return this.#approver.by;
  }

  /** Whether a person says yes. Asks only where no answer holds. Rejects with the signal's reason. */
  async admit(question: HostQuestion, signal: AbortSignal): Promise<boolean> {
    const key = `${question.host}:${question.port}`;
    if (this.#granted.has(key)) return true;
    if (this.#refused.get(question.callId)?.has(key)) return false;
    signal.throwIfAborted();
    const waiting = this.#waiting.get(key) ?? this.#ask(question, key);
    waiting.calls.add(question.callId);
    waiting.waiters += 1;
    try {
      return (await untilAborted(waiting.answer, signal)).type === "yes";
    } finally {
      waiting.waiters -= 1;
      if (waiting.waiters === 0) {
        waiting.stop.abort();
        // That nobody answered is on record before anything else is said of it.
        await waiting.answer;
      }
    }
  }

  #ask(question: HostQuestion, key: string): Waiting {
    const stop = new AbortController();
    const calls = new Set<string | null>();
    const answer = this.#answerTo(question, stop.signal)
      .then((given) => this.#remember(given, { key, calls, isAbandoned: stop.signal.aborted }))
      .finally(() => {
        if (this.#waiting.get(key) === waiting) this.#waiting.delete(key);
      });
    const waiting: Waiting = { answer, waiters: 0, calls, stop };
    this.#waiting.set(key, waiting);
    // Nobody waits any more: whoever wants it next asks anew.
    stop.signal.addEventListener("abort", () => {
      if (this.#waiting.get(key) === waiting) this.#waiting.delete(key);
    });
    return waiting;
  }

  async #answerTo(question: HostQuestion, signal: AbortSignal): Promise<HostAnswer> {
    const asking = async (): Promise<HostAnswer> => this.#approver.ask(question, signal);
    const given = await untilAborted(asking(), signal).catch((): HostAnswer => NO);
    const answer = !signal.aborted && given.type === "yes" && this.#approver.by === "person" ? given : NO;
    const { host, port, rule } = question;
    const scope = answer.type === "yes" ? answer.scope : "connection";
    const fact = { host, port, decision: answer.type, by: this.#approver.by, scope, rule_id: rule };
    // What cannot be written down was not said.
    return this.#record({ type: "host_approval", ...fact }).then(
      () => answer,
      () => NO,
    );
  }

  #remember(
    answer: HostAnswer,
    { key, calls, isAbandoned }: { key: string; calls: ReadonlySet<string | null>; isAbandoned: boolean },
  ): HostAnswer {
    if (answer.type === "yes" && answer.scope === "session") this.#granted.add(key);
    if (answer.type === "no" && !isAbandoned) for (const call of calls) this.#refuse(call, key);
    return answer;
  }

  #refuse(call: string | null, key: string): void {
    const keys = this.#refused.get(call) ?? new Set();
    keys.add(key);
    this.#refused.delete(call);
    this.#refused.set(call, keys);
    if (this.#refused.size <= MOST_CALLS) return;
    for (const oldest of this.#refused.keys()) {
      this.#refused.delete(oldest);
      break;
    }
  }
}

const NO: HostAnswer = { type: "no" };
