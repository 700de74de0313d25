import { join } from "node:path";
import { uuidv7 } from "../core/ids.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { VERSION } from "../core/version.ts";
import { type AttachStreams, attach, type Terminal } from "../sandbox/attach.ts";
import type { Reaped } from "../sandbox/reaper.ts";
import { planMounts } from "../workspace/plan-mounts.ts";
import { planWarnings } from "../workspace/plan-warnings.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { type DockerProviderOptions, dockerProvider, type Opened } from "./docker-provider.ts";
import { withoutSession } from "./guarding.ts";
import { workspaceId } from "./home.ts";
import { type LoadedPolicy, loadPolicy, type PolicyFacts } from "./policy.ts";
import { containerChoices } from "./policy-use.ts";
import { finishDead, type Recovered } from "./recover.ts";
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
  /** As of a run. */
  onRecovered: (recovered: Recovered) => void;
  /** Where the policy came from and what it left out. */
  onPolicy: (facts: PolicyFacts) => void;
  /** What happened to mounts of the sandbox, before or while the command runs. */
  onMounts: (event: "remounted" | "links_protected", detail: JsonObject) => void;
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
  let opened: Opened | undefined;
  const provider = providerOf({ ...settings, loaded }, surroundings, (value) => {
    opened = value;
  });
  settings.onRecovered(await finishDead(join(home.sessions, workspaceId(workspace.root)), provider, settings.signal));
  const plan = await planMounts(workspace.root, loaded.policy);
  const warnings = [...loaded.facts.warnings, ...(await planWarnings(workspace.root, plan))];
  settings.onPolicy({ ...loaded.facts, warnings });
  const provide = dockerProvider(provider);
  const { hardlinks } = loaded.policy;
  const sandbox = await provide({
    ...withoutSession({ root: workspace.root, plan, hardlinks }),
    sessionId: uuidv7(),
    workspaceId: workspaceId(workspace.root),
    workspace,
    plan,
    limits: loaded.policy.limits,
    secretHashes: secrets.hashes(),
    emit: async ({ event, detail }) => {
      if ((event === "remounted" || event === "links_protected") && isJsonObject(detail))
        settings.onMounts(event, detail);
    },
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
): DockerProviderOptions {
  const { build, onProgress, onReaped } = settings;
  const { policy } = settings.loaded;
  const place = { env, userHome, packageRoot, cacheDir: home.cache, version: VERSION };
  return { ...place, ...containerChoices(policy, env), build, onProgress, onReaped, onOpened };
}
