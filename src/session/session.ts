import { createHash } from "node:crypto";
import { Journal } from "../agent/journal.ts";
import { RunClock, type RunLimits } from "../agent/limits.ts";
import { systemPrompt } from "../agent/prompt.ts";
import { type AgentDeps, type RunEnd, takeTurns } from "../agent/run.ts";
import { type GloveboxError, toGloveboxError } from "../core/errors.ts";
import type { ErrorFact } from "../core/events.ts";
import { CLOSED_OUTLET } from "../core/outlet.ts";
import type { Approver } from "../gate/approver.ts";
import { ToolGate } from "../gate/tool-gate.ts";
import type { ModelClient } from "../model/model-client.ts";
import { type RetryEvent, withRetries } from "../model/retry.ts";
import type { Policy } from "../policy/policy.ts";
import { weakened } from "../policy/weakened.ts";
import { HOME } from "../sandbox/places.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { toolOffers } from "../tools/catalogue.ts";
import { planMounts } from "../workspace/plan-mounts.ts";
import { planWarnings } from "../workspace/plan-warnings.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type Guarding, guardWorkspace } from "./guarding.ts";
import { workspaceId } from "./home.ts";
import type { PolicyFacts } from "./policy.ts";
import type { SandboxProvider } from "./provider.ts";
import type { Recorder } from "./recorder.ts";

export type SessionOptions = {
  workspace: Workspace;
  model: ModelClient;
  /** Repetitions of a request that failed in passing. */
  modelRetries: number;
  policy: Policy;
  /** Where the policy came from and what it left out. */
  policyFacts: PolicyFacts;
  approver: Approver;
  /** Ask before everything but reading, although the policy allows it. */
  askAlways: boolean;
  limits: RunLimits;
  secretHashes: readonly string[];
  openSandbox: SandboxProvider;
  /** Stays open when the session closes. */
  recorder: Recorder;
  /** Aborts the opening; a run has its own. */
  signal: AbortSignal;
};

/** How a run ended and what its time went into; the rest is in the recorder's tally. */
export type RunReport = RunEnd & { usedSeconds: number; modelMs: number };

/** One conversation in one sandbox. Whoever opened it closes it. */
export class Session {
  readonly sandbox: Sandbox;
  readonly policyHash: string;
  /** From the start of opening to the first possible call. */
  readonly readyMs: number;
  readonly #options: SessionOptions;
  readonly #guarding: Guarding;
  readonly #journal: Journal;
  readonly #gate: ToolGate;
  readonly #system: string;

  private constructor(
    options: SessionOptions,
    parts: { sandbox: Sandbox; guarding: Guarding; journal: Journal; system: string; readyMs: number },
  ) {
    this.#options = options;
    this.sandbox = parts.sandbox;
    this.#guarding = parts.guarding;
    this.#journal = parts.journal;
    this.#system = parts.system;
    this.readyMs = parts.readyMs;
    this.policyHash = hashOf(options.policy);
    const isWeakened = parts.sandbox.facts.isWeakened;
    this.#gate = new ToolGate({ ...options, ...(isWeakened && { policy: weakened(options.policy) }) });
  }

  /** Opens the sandbox and writes down what the model will be told. @throws GloveboxError, nothing left behind. */
  static async open(options: SessionOptions): Promise<Session> {
    const startedAt = performance.now();
    const { workspace, policy, recorder } = options;
    const plan = await planMounts(workspace.root, policy);
    const warnings = await planWarnings(workspace.root, plan);
    const guarding = guardWorkspace({ root: workspace.root, plan, recorder, hardlinks: policy.hardlinks });
    await guarding.begin();
    const opening = options.openSandbox({
      ...guarding.request,
      outlet: CLOSED_OUTLET,
      sessionId: recorder.sessionId,
      workspaceId: workspaceId(workspace.root),
      workspace,
      plan,
      limits: policy.limits,
      rules: policy.origins,
      secretHashes: options.secretHashes,
      emit: async ({ event, containerId, detail }, image) => {
        await recorder.append({
          type: "sandbox",
          event,
          container_id: containerId,
          image: image.ref,
          image_digest: image.digest,
          detail,
        });
      },
      signal: options.signal,
    });
    // Nothing has run that could have left anything.
    const sandbox = await opening.catch(async (error: unknown) => {
      await guarding.end();
      throw error;
    });
    try {
      const system = systemPrompt({
        root: workspace.root,
        home: HOME,
        image: sandbox.facts.image,
        readonly: plan.readonly.map(({ path }) => path).filter((path) => path !== "."),
        writable: plan.writable,
        date: new Date().toISOString().slice(0, 10),
      });
      const journal = new Journal(recorder);
      await journal.append({
        type: "policy",
        hash: hashOf(policy),
        ...options.policyFacts,
        warnings: [...options.policyFacts.warnings, ...warnings],
      });
      await journal.append({ type: "system", text: system, tools: toolOffers() });
      const readyMs = Math.round(performance.now() - startedAt);
      return new Session(options, { sandbox, guarding, journal, system, readyMs });
    } catch (error) {
      await sandbox
        .close()
        .then(guarding.end)
        .catch(() => undefined);
      throw error;
    }
  }

  /** One prompt, until the model is done, a limit is reached or `signal` aborts. @throws only when the log fails. */
  async run(prompt: string, signal: AbortSignal): Promise<RunReport> {
    const { limits } = this.#options;
    const journal = this.#journal;
    await journal.append({
      type: "run_started",
      limits: { turns: limits.turns, tool_calls: limits.toolCalls, seconds: limits.seconds },
      policy_hash: this.policyHash,
      image_digest: this.sandbox.facts.imageDigest,
    });
    await journal.append({ type: "user", source: "prompt", content: prompt });
    const clock = new RunClock(limits.seconds);
    const watch = { ms: 0 };
    const end = await takeTurns(this.#deps(clock, watch), signal);
    clock.pause();
    await journal.append({ type: "run_end", outcome: end.outcome, error: end.error ? errorFact(end.error) : null });
    return { ...end, usedSeconds: clock.usedSeconds, modelMs: Math.round(watch.ms) };
  }

  /** Ends every process of the session, removes its container and moves out of the workspace what must not be there. */
  async close(): Promise<void> {
    await this.sandbox.close();
    await this.#guarding.end();
  }

  #deps(clock: RunClock, watch: { ms: number }): AgentDeps {
    const { model, modelRetries, limits, policy } = this.#options;
    const retrying = withRetries(model, { attempts: modelRetries, onRetry: (event) => this.#onRetry(event) });
    return {
      journal: this.#journal,
      gate: this.#gate,
      sandbox: this.sandbox,
      model: timed(retrying, watch),
      clock,
      callSeconds: policy.limits.callSeconds,
      limits,
      system: this.#system,
      tools: toolOffers(),
    };
  }

  #onRetry({ retry, delayMs, failure }: RetryEvent): void {
    const { message } = failure;
    this.#journal.show({ type: "retry_wait", live: true, delay_ms: delayMs, attempt: retry, message });
    // A log that cannot be written fails the run at its next fact, which nobody can miss.
    const fact = { error: errorFact(failure), partial_chars: failure.partial.chars, will_retry: true };
    this.#journal.append({ type: "request_failed", number: retry, ...fact }).catch(() => undefined);
  }
}

/** An error as it stands in logs and results. */
export function errorFact(error: GloveboxError): ErrorFact {
  const { code, message, hint } = toGloveboxError(error);
  return { code, message, hint: hint ?? null };
}

function timed(model: ModelClient, watch: { ms: number }): ModelClient {
  return {
    provider: model.provider,
    id: model.id,
    api: model.api,
    respond: async (request, options) => {
      const startedAt = performance.now();
      try {
        return await model.respond(request, options);
      } finally {
        watch.ms += performance.now() - startedAt;
      }
    },
  };
}

function hashOf(policy: Policy): string {
  return createHash("sha256").update(JSON.stringify(policy)).digest("hex");
}
