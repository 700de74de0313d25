import { type AttachStreams, attach, type Terminal } from "../sandbox/attach.ts";
import type { Reaped } from "../sandbox/reaper.ts";
import type { SandboxFacts } from "../sandbox/sandbox.ts";
import { planMounts } from "../workspace/plan-mounts.ts";
import { planWarnings } from "../workspace/plan-warnings.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { openPlainSandbox } from "./plain-sandbox.ts";
import { loadPolicy, type PolicyFacts } from "./policy.ts";
import type { Surroundings } from "./surroundings.ts";

export type ExecSettings = {
  /** Empty: an interactive shell, which needs a terminal. */
  command: readonly string[];
  /** A folder, relative to the current one. */
  workspace: string;
  /** As of a run. */
  policy?: string | undefined;
  image: string | undefined;
  /** Build a missing image of ours. */
  build: boolean;
  streams: AttachStreams;
  terminal: Terminal | undefined;
  onProgress: (words: string) => void;
  onReaped: (reaped: Reaped) => void;
  /** Where the policy came from and what it left out. */
  onPolicy: (facts: PolicyFacts) => void;
  /** The sandbox is ready and the command about to start. */
  onReady: (facts: Pick<SandboxFacts, "degraded" | "notes">) => void;
  /** Aborting ends the command with its container. */
  signal: AbortSignal;
};

/**
 * One command in the sandbox a session would have, without a session; gives its exit code. The container is removed
 * before it resolves. @throws GloveboxError when there is no sandbox, and what `signal` aborts with.
 */
export async function execInSandbox(settings: ExecSettings, surroundings: Surroundings): Promise<number> {
  const { home, userHome } = surroundings;
  const workspace = await openWorkspace(settings.workspace, { userHome, gloveboxHome: home.root });
  const { policy, facts } = await loadPolicy(workspace.root, settings, surroundings);
  const planned = await planMounts(workspace.root, policy);
  settings.onPolicy({ ...facts, warnings: [...facts.warnings, ...(await planWarnings(workspace.root, planned))] });
  const { sandbox, engine, plan } = await openPlainSandbox({ ...settings, workspace, policy, planned }, surroundings);
  try {
    settings.signal.throwIfAborted();
    settings.onReady(sandbox.facts);
    const container = engine.docker.getContainer(sandbox.facts.containerId);
    return await attach(container, { hello: plan.hello, user: plan.spec.user }, settings);
  } finally {
    await sandbox.close();
  }
}
