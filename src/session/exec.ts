import { uuidv7 } from "../core/ids.ts";
import { VERSION } from "../core/version.ts";
import { type AttachStreams, attach, type Terminal } from "../sandbox/attach.ts";
import type { Reaped } from "../sandbox/reaper.ts";
import { planMounts } from "../workspace/plan-mounts.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { dockerProvider, type Opened } from "./docker-provider.ts";
import { withoutSession } from "./guarding.ts";
import { workspaceId } from "./home.ts";
import { type LoadedPolicy, loadPolicy, type PolicyFacts } from "./policy.ts";
import { commandEnvOf, imageOf } from "./policy-use.ts";
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
  onReady: (degraded: readonly string[]) => void;
  /** Aborting ends the command with its container. */
  signal: AbortSignal;
};

/**
 * One command in the sandbox a session would have, without a session; gives its exit code. The container is removed
 * before it resolves. @throws GloveboxError when there is no sandbox, and what `signal` aborts with.
 */
export async function execInSandbox(settings: ExecSettings, surroundings: Surroundings): Promise<number> {
  const { secrets, home, userHome } = surroundings;
  const workspace = await openWorkspace(settings.workspace, { userHome, gloveboxHome: home.root });
  const loaded = await loadPolicy(workspace.root, settings, surroundings);
  settings.onPolicy(loaded.facts);
  const plan = await planMounts(workspace.root, loaded.policy);
  let opened: Opened | undefined;
  const provide = providerOf({ ...settings, loaded }, surroundings, (value) => {
    opened = value;
  });
  const { hardlinks } = loaded.policy;
  const sandbox = await provide({
    ...withoutSession({ root: workspace.root, plan, hardlinks }),
    sessionId: uuidv7(),
    workspaceId: workspaceId(workspace.root),
    workspace,
    plan,
    limits: loaded.policy.limits,
    secretHashes: secrets.hashes(),
    emit: () => Promise.resolve(),
    signal: settings.signal,
  });
  try {
    settings.signal.throwIfAborted();
    if (!opened) throw new Error("The provider did not say what it opened");
    const { engine, plan: box } = opened;
    settings.onReady(sandbox.facts.degraded);
    const container = engine.docker.getContainer(sandbox.facts.containerId);
    return await attach(container, { hello: box.hello, user: box.spec.user }, settings);
  } finally {
    await sandbox.close();
  }
}

function providerOf(
  settings: ExecSettings & { loaded: LoadedPolicy },
  { env, userHome, packageRoot, home }: Surroundings,
  onOpened: (opened: Opened) => void,
): ReturnType<typeof dockerProvider> {
  const { build, onProgress, onReaped } = settings;
  const { policy } = settings.loaded;
  const chosen = { image: imageOf(policy), commandEnv: commandEnvOf(policy, env) };
  const place = { env, userHome, packageRoot, cacheDir: home.cache, version: VERSION };
  return dockerProvider({ ...place, ...chosen, build, onProgress, onReaped, onOpened });
}
