import { createHash } from "node:crypto";
import { Journal } from "../agent/journal.ts";
import { RunClock, type RunLimits } from "../agent/limits.ts";
import { systemPrompt } from "../agent/prompt.ts";
import { type AgentDeps, type RunEnd, takeTurns } from "../agent/run.ts";
import { type GloveboxError, toGloveboxError } from "../core/errors.ts";
import type { ErrorFact } from "../core/events.ts";
import { type Egress, openEgress } from "../egress/egress.ts";
import type { Approver } from "../gate/approver.ts";
import { ToolGate } from "../gate/tool-gate.ts";
import type { ModelClient } from "../model/model-client.ts";
import { type RetryEvent, withRetries } from "../model/retry.ts";
import type { Policy } from "../policy/policy.ts";
import { weakened } from "../policy/weakened.ts";
import { HOME } from "../sandbox/places.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { type OptionalTool, toolOffers } from "../tools/catalogue.ts";
import type { MountPlan } from "../workspace/mount-plan.ts";
import { planMounts } from "../workspace/plan-mounts.ts";
import { planWarnings } from "../workspace/plan-warnings.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type Guarding, guardWorkspace } from "./guarding.ts";
import { workspaceId } from "./home.ts";
import { Patience } from "./patience.ts";
import type { PolicyFacts } from "./policy.ts";
import type { SandboxProvider, SandboxRequest } from "./provider.ts";
import { reachOf } from "./reach.ts";
import type { Recorder } from "./recorder.ts";
import { timed } from "./timed-model.ts";
import type { Ways } from "./ways.ts";

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
  /** How connections go out, and who is asked for a host. */
  ways: Ways;
  limits: RunLimits;
  /** Tools beyond the seven that every session has; none when omitted. */
  tools?: readonly OptionalTool[] | undefined;
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
  readonly #egress: Egress;
  readonly #patience: Patience;
  #closing: Promise<void> | undefined;

  private constructor(options: SessionOptions, parts: Parts) {
    this.#options = options;
    this.sandbox = parts.sandbox;
    this.#guarding = parts.guarding;
    this.#journal = parts.journal;
    this.#system = parts.system;
    this.#egress = parts.egress;
    this.#patience = parts.patience;
    this.readyMs = parts.readyMs;
    this.policyHash = hashOf(options.policy);
    const isWeakened = parts.sandbox.facts.isWeakened;
    this.#gate = new ToolGate({ ...options, ...(isWeakened && { policy: weakened(options.policy) }) });
  }

  /** Opens the sandbox and writes down what the model will be told. @throws GloveboxError, nothing left behind. */
  static async open(options: SessionOptions): Promise<Session> {
    const startedAt = performance.now();
    const { workspace, policy, recorder, ways } = options;
    const plan = await planMounts(workspace.root, policy);
    const warnings = await planWarnings(workspace.root, plan);
    const guarding = guardWorkspace({ root: workspace.root, plan, recorder, hardlinks: policy.hardlinks });
    const patience = new Patience();
    await guarding.begin();
    const opened: Opened = { guarding, egress: undefined, sandbox: undefined };
    try {
      const egress = await openEgress({
        ...ways,
        policy,
        approver: patience.over(ways.approver),
        record: async (fact) => void (await recorder.append(fact)),
      });
      opened.egress = egress;
      const sandbox = await options.openSandbox(requestOf(options, { plan, guarding, egress }));
      opened.sandbox = sandbox;
      const journal = new Journal(recorder);
      const system = promptOf(options, plan, sandbox.facts.image);
      await journal.append({
        type: "policy",
        hash: hashOf(policy),
        ...options.policyFacts,
        warnings: [...options.policyFacts.warnings, ...warnings],
      });
      await journal.append({ type: "system", text: system, tools: toolOffers(options.tools) });
      const readyMs = Math.round(performance.now() - startedAt);
      return new Session(options, { sandbox, guarding, egress, patience, journal, system, readyMs });
    } catch (error) {
      await closeAll(opened).catch(() => undefined);
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
    this.#patience.run = { clock, signal };
    const end = await takeTurns(this.#deps(clock, watch), signal);
    clock.pause();
    this.#patience.run = undefined;
    await journal.append({ type: "run_end", outcome: end.outcome, error: end.error ? errorFact(end.error) : null });
    return { ...end, usedSeconds: clock.usedSeconds, modelMs: Math.round(watch.ms) };
  }

  /** Ends every process of the session, removes its container and moves out of the workspace what must not be there. */
  close(): Promise<void> {
    this.#closing ??= closeAll({ sandbox: this.sandbox, egress: this.#egress, guarding: this.#guarding });
    return this.#closing;
  }

  #deps(clock: RunClock, watch: { ms: number }): AgentDeps {
    const { model, modelRetries, limits, policy, tools } = this.#options;
    const retrying = withRetries(model, { attempts: modelRetries, onRetry: (event) => this.#onRetry(event) });
    return {
      journal: this.#journal,
      gate: this.#gate,
      sandbox: this.#patience.during(this.sandbox),
      model: timed(retrying, watch),
      clock,
      callSeconds: policy.limits.callSeconds,
      limits,
      system: this.#system,
      tools: toolOffers(tools),
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

type Parts = {
  sandbox: Sandbox;
  guarding: Guarding;
  egress: Egress;
  patience: Patience;
  journal: Journal;
  system: string;
  readyMs: number;
};

type Opened = { guarding: Guarding; egress: Egress | undefined; sandbox: Sandbox | undefined };

/** Connections end with their container, and are written down before the log is closed. */
async function closeAll({ sandbox, egress, guarding }: Opened): Promise<void> {
  try {
    await sandbox?.close();
  } finally {
    await egress?.close();
  }
  // A container that could not be removed may still write: what to look for later stays on the disk then.
  await guarding.end();
}

function requestOf(
  { workspace, policy, recorder, secretHashes, signal }: SessionOptions,
  { plan, guarding, egress }: { plan: MountPlan; guarding: Guarding; egress: Egress },
): SandboxRequest {
  return {
    ...guarding.request,
    outlet: egress,
    sessionId: recorder.sessionId,
    workspaceId: workspaceId(workspace.root),
    workspace,
    plan,
    limits: policy.limits,
    rules: policy.origins,
    secretHashes,
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
    signal,
  };
}

function promptOf({ workspace, policy }: SessionOptions, plan: MountPlan, image: string): string {
  return systemPrompt({
    root: workspace.root,
    home: HOME,
    image,
    readonly: plan.readonly.map(({ path }) => path).filter((path) => path !== "."),
    writable: plan.writable,
    network: reachOf(policy),
    date: new Date().toISOString().slice(0, 10),
  });
}

/** An error as it stands in logs and results. */
export function errorFact(error: GloveboxError): ErrorFact {
  const { code, message, hint } = toGloveboxError(error);
  return { code, message, hint: hint ?? null };
}

function hashOf(policy: Policy): string {
  return createHash("sha256").update(JSON.stringify(policy)).digest("hex");
}
