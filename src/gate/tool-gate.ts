import type { Decision } from "../core/effects.ts";
import { messageOf } from "../core/errors.ts";
import type { Denial, SyntheticReason } from "../core/tool-result.ts";
import { decide } from "../policy/decide.ts";
import type { Policy } from "../policy/policy.ts";
import type { Answer, Approver, Question } from "./approver.ts";
import { grantFor } from "./grant.ts";

/** How a question was settled; stands in the log beside the decision. */
export type Approval = {
  decision: "yes" | "no";
  by: Approver["by"] | "grant";
  scope: "call" | "session";
  reason: string | null;
};

/** The gate's final answer. There is no fourth state: what is not `allow` does not run. */
export type Verdict =
  | { type: "allow"; decision: Decision; approval: Approval | undefined }
  | {
      type: "deny";
      decision: Decision;
      approval: Approval | undefined;
      denial: Denial;
      reason: SyntheticReason;
      /** What the model reads. */
      text: string;
      /** Words of a person to the model, said in place of a yes. */
      steering: string | undefined;
    };

export type GateRequest = Omit<Question, "rule" | "grant">;

export type ToolGateOptions = {
  policy: Policy;
  approver: Approver;
  /** Ask also where the policy allows, for everything but reading (`--approve` was given). */
  askAlways: boolean;
};

/** Judges each call before it runs. The guard rail; the wall is the container. */
export class ToolGate {
  readonly #options: ToolGateOptions;
  readonly #grants = new Set<string>();
  /** Settles when the question before the next one is answered. */
  #asked: Promise<unknown> = Promise.resolve();

  constructor(options: ToolGateOptions) {
    this.#options = options;
  }

  async judge(request: GateRequest, signal: AbortSignal): Promise<Verdict> {
    const decision = this.#decide(request);
    switch (decision.type) {
      case "allow":
        return { type: "allow", decision, approval: undefined };
      case "deny":
        return denied(decision, undefined, undefined);
      case "ask":
        return this.#ask(request, decision, signal);
      default:
        return decision satisfies never;
    }
  }

  #decide(request: GateRequest): Decision {
    const decision = decide(this.#options.policy, request);
    const onlyReads = request.effects.every((effect) => effect.kind === "read");
    if (!this.#options.askAlways || decision.type !== "allow" || onlyReads) return decision;
    return { type: "ask", rule: "flag/approve", enableWith: "run without `--approve`, or with `--approve auto`" };
  }

  /** One question at a time, in the order of the calls: an answer is to the question a person has before them. */
  #ask(request: GateRequest, decision: Asking, signal: AbortSignal): Promise<Verdict> {
    const turn = orAborted(this.#asked, signal);
    const verdict = turn.then(() => this.#settle(request, decision, signal));
    this.#asked = Promise.all([this.#asked, verdict]);
    return verdict;
  }

  async #settle(request: GateRequest, decision: Asking, signal: AbortSignal): Promise<Verdict> {
    const grant = grantFor(request.tool, request.effects);
    if (grant && this.#grants.has(grant.key)) return allowed(decision, { ...YES, by: "grant", scope: "session" });
    const { by } = this.#options.approver;
    const answer = await this.#answer({ ...request, rule: decision.rule, grant: grant?.words ?? null }, signal);
    if (answer.type === "no") return denied(decision, { ...NO, by, reason: answer.reason }, answer.steering);
    // Only a person's "always" counts, and only for what the question said it would cover.
    if (answer.scope === "call" || !grant || by !== "person") return allowed(decision, { ...YES, by, scope: "call" });
    this.#grants.add(grant.key);
    return allowed(decision, { ...YES, by, scope: "session" });
  }

  async #answer(question: Question, signal: AbortSignal): Promise<Settled> {
    // What an organisation wants asked is a person's to answer: a flag is none.
    if (question.rule.startsWith("organisation/") && this.#options.approver.by !== "person") {
      return refusal("only a person may answer this");
    }
    if (signal.aborted) return refusal("aborted");
    try {
      const answer = await orAborted(this.#options.approver.ask(question, signal), signal);
      if (answer === undefined || signal.aborted) return refusal("aborted");
      return answer.type === "no" ? { ...answer, steering: answer.reason ?? undefined } : answer;
    } catch (error) {
      return refusal(`the question could not be asked: ${messageOf(error)}`);
    }
  }
}

type Asking = Extract<Decision, { type: "ask" }>;
type Settled = Extract<Answer, { type: "yes" }> | { type: "no"; reason: string | null; steering: string | undefined };

const YES = { decision: "yes", reason: null } as const;
const NO = { decision: "no", scope: "call" } as const;

function refusal(reason: string): Settled {
  return { type: "no", reason, steering: undefined };
}

/** An approver may not look at its signal; nothing waits for it then, and nothing listens longer than that. */
async function orAborted<T>(settled: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const done = new AbortController();
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([settled, aborted]);
  } finally {
    done.abort();
  }
}

function allowed(decision: Decision, approval: Approval): Verdict {
  return { type: "allow", decision, approval };
}

function denied(
  decision: Decision & { type: "ask" | "deny" },
  approval: Approval | undefined,
  steering: string | undefined,
): Verdict {
  const { rule, enableWith } = decision;
  const denial: Denial = { by: approval ? "approval" : "policy", rule, enable_with: enableWith };
  const base = { type: "deny" as const, decision, approval, denial, steering };
  if (!approval) {
    const text = `Not run: policy rule ${rule} denies this. Do not retry the same call. A person could allow it: ${enableWith}.`;
    return { ...base, reason: "denied_policy", text };
  }
  if (approval.by === "person") {
    const why = approval.reason ? ` Reason: ${approval.reason}` : "";
    return { ...base, reason: "denied_user", text: `Not run: the user refused.${why}` };
  }
  const who =
    approval.by === "nobody"
      ? "this needs approval and no user is present"
      : (approval.reason ?? "approvals are answered with no in this run");
  return {
    ...base,
    reason: "denied_noninteractive",
    text: `Not run: ${who} (rule ${rule}). To allow it: ${enableWith}.`,
  };
}
