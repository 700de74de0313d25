import { uuidv7 } from "../core/ids.ts";
import { VERSION } from "../core/version.ts";
import { type Egress, openEgress } from "../egress/egress.ts";
import type { EgressFact } from "../egress/records.ts";
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
import { waysOf } from "./ways.ts";

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
  /** Hears what became of its connections; nobody is asked for a host. */
  onEgress?: (fact: EgressFact) => void;
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
  const { workspace, policy, onEvent, onEgress, signal } = request;
  const plan = request.planned ?? (await planMounts(workspace.root, policy));
  const egress = await openEgress({
    ...waysOf(surroundings, policy),
    policy,
    record: async (fact) => onEgress?.(fact),
  });
  let opened: Opened | undefined;
  const provide = dockerProvider({
    ...plainOptions(request, surroundings),
    onOpened: (value) => {
      opened = value;
    },
  });
  const opening = provide({
    ...withoutSession({ root: workspace.root, plan, hardlinks: policy.hardlinks }),
    outlet: egress,
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
  const sandbox = await opening.catch(async (error: unknown) => {
    await egress.close();
    throw error;
  });
  if (!opened) throw new Error("The provider did not say what it opened");
  return { sandbox: withEgress(sandbox, egress), ...opened };
};

/** The same sandbox, whose connections end with it. */
function withEgress(sandbox: Sandbox, egress: Egress): Sandbox {
  return {
    get facts() {
      return sandbox.facts;
    },
    get failure() {
      return sandbox.failure;
    },
    call: (call, options) => sandbox.call(call, options),
    close: () => sandbox.close().finally(() => egress.close()),
  };
}
