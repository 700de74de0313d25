import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { EgressFact } from "../egress/records.ts";
import { type AttachStreams, attach, type Terminal } from "../sandbox/attach.ts";
import type { Reaped } from "../sandbox/reaper.ts";
import type { SandboxEvent, SandboxFacts } from "../sandbox/sandbox.ts";
import { planMounts } from "../workspace/plan-mounts.ts";
import { planWarnings } from "../workspace/plan-warnings.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { workspaceId } from "./home.ts";
import { openPlainSandbox, plainOptions } from "./plain-sandbox.ts";
import { loadPolicy, type PolicyFacts } from "./policy.ts";
import { finishDead, type Recovered } from "./recover.ts";
import type { Surroundings } from "./surroundings.ts";

export type ExecSettings = {
  /** Empty: an interactive shell, which needs a terminal. */
  command: readonly string[];
  /** A folder, relative to the current one. */
  workspace: string;
  /** As of a run. */
  policy?: string | undefined;
  /** As of a run. */
  allowHosts?: readonly string[] | undefined;
  image: string | undefined;
  /** Build a missing image of ours. */
  build: boolean;
  streams: AttachStreams;
  terminal: Terminal | undefined;
  onProgress: (words: string) => void;
  onReaped: (reaped: Reaped) => void;
  /** As of a run. */
  onRecovered: (recovered: Recovered) => void;
  /** Where the policy came from and what it left out. */
  onPolicy: (facts: PolicyFacts) => void;
  /** What happened to mounts of the sandbox, before or while the command runs. */
  onMounts: (event: "remounted" | "links_protected", detail: JsonObject) => void;
  /** What became of connections that were tried, while the command runs. */
  onEgress: (fact: EgressFact) => void;
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
  const options = plainOptions({ ...settings, policy }, surroundings);
  const sessions = join(home.sessions, workspaceId(workspace.root));
  await finishDead(sessions, options, settings.signal, settings.onRecovered);
  const planned = await planMounts(workspace.root, policy);
  settings.onPolicy({ ...facts, warnings: [...facts.warnings, ...(await planWarnings(workspace.root, planned))] });
  const onEvent = ({ event, detail }: SandboxEvent): void => {
    if ((event === "remounted" || event === "links_protected") && isJsonObject(detail))
      settings.onMounts(event, detail);
  };
  const request = { ...settings, workspace, policy, planned, onEvent };
  const { sandbox, engine, plan } = await openPlainSandbox(request, surroundings);
  try {
    settings.signal.throwIfAborted();
    settings.onReady(sandbox.facts);
    const container = engine.docker.getContainer(sandbox.facts.containerId);
    return await attach(container, { hello: plan.hello, user: plan.spec.user }, settings);
  } finally {
    await sandbox.close();
  }
}
