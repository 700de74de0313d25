import { EXIT, type GloveboxError, toGloveboxError } from "../core/errors.ts";
import type { SessionEvent } from "../core/events.ts";
import { uuidv7 } from "../core/ids.ts";
import { NO_USAGE } from "../core/messages.ts";
import type { Secrets } from "../core/secrets.ts";
import { openWorkspace, type Workspace } from "../workspace/workspace.ts";
import { NO_EGRESS } from "./egress-tally.ts";
import { type Home, sessionFile, workspaceId } from "./home.ts";
import { Recorder } from "./recorder.ts";
import type { RunResult } from "./result.ts";
import { errorFact, type RunReport, Session, type SessionOptions } from "./session.ts";

export type RunOnceOptions = Omit<SessionOptions, "workspace" | "recorder" | "secretHashes"> & {
  prompt: string;
  /** A folder of the host, relative to the current one. */
  workspace: string;
  /** Masked wherever something is stored, shown or sent. */
  secrets: Secrets;
  home: Home;
  userHome: string;
  version: string;
  /** Hears every event after it has been stored. Must not throw. */
  onEvent: (event: SessionEvent) => void;
  /** Aborting ends the run as `aborted`, with a valid log and no container. */
  signal: AbortSignal;
  /** Aborting removes the container at once, whatever a stopping run still waits for. */
  urgent: AbortSignal;
};

/**
 * One prompt in a session of its own: opened, run, closed. What goes wrong after the log exists is in the result, not
 * thrown. @throws GloveboxError `WORKSPACE_REFUSED`, `SESSION_WRITE_FAILED` before there is a session.
 */
export async function runOnce(options: RunOnceOptions): Promise<RunResult> {
  const startedAt = performance.now();
  const workspace = await openWorkspace(options.workspace, forbidden(options));
  const recorder = await createRecorder(options, workspace);
  try {
    const done = await openAndRun(options, { workspace, recorder });
    return resultOf(options, recorder, { ...done, totalMs: performance.now() - startedAt });
  } finally {
    await recorder.close();
  }
}

type Done = { session: Session | undefined; report: RunReport | undefined; error: GloveboxError | undefined };

type Opening = Pick<SessionOptions, "workspace" | "recorder">;

async function openAndRun(options: RunOnceOptions, { workspace, recorder }: Opening): Promise<Done> {
  let session: Session | undefined;
  let report: RunReport | undefined;
  let error: GloveboxError | undefined;
  try {
    session = await Session.open({ ...options, workspace, recorder, secretHashes: options.secrets.hashes() });
    closeWhen(options.urgent, session);
    report = await session.run(options.prompt, options.signal);
    error = report.error;
  } catch (thrown) {
    error = toGloveboxError(thrown);
    await recordFailure(recorder, error, options.signal);
  }
  // The first cause is the one to report; a container that could not be removed is left to the next start.
  await session?.close().catch((thrown: unknown) => {
    error ??= toGloveboxError(thrown);
  });
  return { session, report, error };
}

/** A session that never got to run has its reason in its log all the same, if that can still be written. */
async function recordFailure(recorder: Recorder, error: GloveboxError, signal: AbortSignal): Promise<void> {
  const outcome = signal.aborted ? "aborted" : "failed";
  await recorder.append({ type: "run_end", outcome, error: errorFact(error) }).catch(() => undefined);
}

function closeWhen(urgent: AbortSignal, session: Session): void {
  // What goes wrong here goes wrong again, and is reported, when the session is closed in due course.
  const close = (): void => void session.close().catch(() => undefined);
  if (urgent.aborted) close();
  else urgent.addEventListener("abort", close, { once: true });
}

function forbidden({ userHome, home }: RunOnceOptions): { userHome: string; gloveboxHome: string } {
  return { userHome, gloveboxHome: home.root };
}

function createRecorder(options: RunOnceOptions, { root }: Workspace): Promise<Recorder> {
  const id = uuidv7();
  const workspace = workspaceId(root);
  return Recorder.create({
    path: sessionFile(options.home, workspace, id),
    header: {
      type: "session",
      version: 1,
      id,
      created_at: new Date().toISOString(),
      cwd: root,
      workspace_id: workspace,
      app_version: options.version,
    },
    secrets: options.secrets,
    onEvent: options.onEvent,
  });
}

function resultOf(options: RunOnceOptions, recorder: Recorder, done: Done & { totalMs: number }): RunResult {
  const { tally } = recorder;
  const { session, report, error } = done;
  const outcome = options.signal.aborted && !report ? "aborted" : (report?.outcome ?? "failed");
  const { turns: turnsSet, toolCalls, seconds } = options.limits;
  return {
    version: 1,
    outcome: error && outcome === "completed" ? "failed" : outcome,
    exit_code: exitCodeOf(outcome, error, tally.unattended),
    ...tally.counted,
    session_id: recorder.sessionId,
    session_file: recorder.path,
    model: { provider: options.model.provider, id: options.model.id, api: options.model.api },
    cost: tally.cost,
    sandbox: session ? sandboxOf(session) : null,
    limits: {
      set: { turns: turnsSet, tool_calls: toolCalls, seconds },
      used: {
        turns: tally.counted.turns,
        tool_calls: tally.counted.tool_calls.total,
        seconds: Math.round((report?.usedSeconds ?? 0) * 1000) / 1000,
      },
    },
    timing: {
      total_ms: Math.round(done.totalMs),
      sandbox_ready_ms: session?.readyMs ?? null,
      model_ms: report?.modelMs ?? 0,
      tool_ms: tally.toolMs,
    },
    error: error && outcome !== "aborted" ? errorFact(error) : null,
  };
}

function sandboxOf({ sandbox, policyHash }: Session): RunResult["sandbox"] {
  const { image, imageDigest, controls, degraded } = sandbox.facts;
  return { image, image_digest: imageDigest, policy_hash: policyHash, selftest: controls, degraded };
}

/** The exit code of a run: what ended it, then what was denied on the way. Signals are the command line's to know. */
function exitCodeOf(outcome: RunResult["outcome"], error: GloveboxError | undefined, unattended: number): number {
  switch (outcome) {
    case "completed":
      if (error) return error.exitCode;
      return unattended > 0 ? EXIT.deniedUnattended : EXIT.completed;
    case "failed":
      return error?.exitCode ?? EXIT.failed;
    case "aborted":
      return EXIT.interrupted;
    case "limit":
      return EXIT.limit;
    case "refused":
    case "truncated":
      return EXIT.truncated;
    default:
      return outcome satisfies never;
  }
}

/** The result of a run that failed before it had a session: a bad option, a refused workspace, no model. */
export function failedResult(error: GloveboxError): RunResult {
  return {
    version: 1,
    outcome: "failed",
    exit_code: error.exitCode,
    result: "",
    session_id: null,
    session_file: null,
    model: null,
    usage: NO_USAGE,
    cost: { reported_usd: null, estimated_usd: null, unknown_requests: 0, complete: true },
    turns: 0,
    tool_calls: { total: 0, errors: 0, denied: 0, synthetic: 0 },
    files_changed: [],
    denials: [],
    quarantined: [],
    egress: NO_EGRESS,
    sandbox: null,
    limits: { set: { turns: 0, tool_calls: 0, seconds: 0 }, used: { turns: 0, tool_calls: 0, seconds: 0 } },
    timing: { total_ms: 0, sandbox_ready_ms: null, model_ms: 0, tool_ms: 0 },
    error: errorFact(error),
  };
}
