import { uuidv7 } from "../core/ids.ts";
import { CLOSED_OUTLET } from "../core/outlet.ts";
import { VERSION } from "../core/version.ts";
import type { Policy } from "../policy/policy.ts";
import type { Reaped } from "../sandbox/reaper.ts";
import type { Sandbox, SandboxEvent } from "../sandbox/sandbox.ts";
import type { MountPlan } from "../workspace/mount-plan.ts";
import { planMounts } from "../workspace/plan-mounts.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type DockerProviderOptions, dockerProvider, type Opened } from "./docker-provider.ts";
import { withoutSession } from "./guarding.ts";
import { workspaceId } from "./home.ts";
import { containerChoices } from "./policy-use.ts";
import type { Surroundings } from "./surroundings.ts";

export type PlainRequest = {
  workspace: Workspace;
  policy: Policy;
  /** Its mount plan, where that was made already. */
  planned?: MountPlan;
  /** Build a missing image of ours. */
  build: boolean;
  onProgress: (words: string) => void;
  onReaped: (reaped: Reaped) => void;
  /** Hears what happens to the sandbox. */
  onEvent?: (event: SandboxEvent) => void;
  /** Aborts the opening. */
  signal: AbortSignal;
};

/** Where and how such a sandbox is made. */
export function plainOptions(
  { policy, build, onProgress, onReaped }: Pick<PlainRequest, "policy" | "build" | "onProgress" | "onReaped">,
  { env, userHome, packageRoot, home }: Surroundings,
): DockerProviderOptions {
  const place = { env, userHome, packageRoot, cacheDir: home.cache, version: VERSION };
  return { ...place, ...containerChoices(policy, env), build, onProgress, onReaped };
}

/** A sandbox without a session, and what it was made from. Whoever opened it closes it. */
export type PlainSandbox = Opened & { sandbox: Sandbox };

export type OpenPlain = (request: PlainRequest, surroundings: Surroundings) => Promise<PlainSandbox>;

/** Opens the sandbox that a session would have under this policy. @throws GloveboxError, nothing left behind. */
export const openPlainSandbox: OpenPlain = async (request, surroundings) => {
  const { workspace, policy, onEvent, signal } = request;
  const plan = request.planned ?? (await planMounts(workspace.root, policy));
  let opened: Opened | undefined;
  const provide = dockerProvider({
    ...plainOptions(request, surroundings),
    onOpened: (value) => {
      opened = value;
    },
  });
  const sandbox = await provide({
    ...withoutSession({ root: workspace.root, plan, hardlinks: policy.hardlinks }),
    outlet: CLOSED_OUTLET,
    sessionId: uuidv7(),
    workspaceId: workspaceId(workspace.root),
    workspace,
    plan,
    limits: policy.limits,
    rules: policy.origins,
    secretHashes: surroundings.secrets.hashes(),
    emit: async (event) => onEvent?.(event),
    signal,
  });
  if (!opened) throw new Error("The provider did not say what it opened");
  return { sandbox, ...opened };
};
