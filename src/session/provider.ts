import type { Outlet } from "../core/outlet.ts";
import type { PolicyLimits } from "../policy/policy.ts";
import type { Keep, ProtectLinks, Sandbox, SandboxEvent } from "../sandbox/sandbox.ts";
import type { Look } from "../workspace/appeared.ts";
import type { MountPlan } from "../workspace/mount-plan.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** What a session asks of whoever makes its sandbox. */
export type SandboxRequest = {
  sessionId: string;
  workspaceId: string;
  workspace: Workspace;
  plan: MountPlan;
  /** The plan for the mounts as they are now, with these workspace-relative paths read-only too. */
  replan: (linked: readonly string[]) => Promise<MountPlan>;
  /** When files with names outside the workspace are looked for, to be protected. */
  protectLinks: ProtectLinks;
  /** What is in the workspace now that must not be; called when no container has it mounted. */
  appeared: () => Promise<Look>;
  /** Takes what is moved out of the workspace. */
  keep: Keep;
  /** Where connections go. */
  outlet: Outlet;
  limits: PolicyLimits;
  /** Who set each limit, by its key: the policy's origins. */
  rules: Readonly<Record<string, string>>;
  /** SHA-256 of secrets that must be found in no environment inside. */
  secretHashes: readonly string[];
  /** Awaited before the sandbox goes on. */
  emit: (event: SandboxEvent, image: { ref: string; digest: string }) => Promise<void>;
  signal: AbortSignal;
};

/** Makes the sandbox of a session; the session closes it. @throws GloveboxError with exit code 5. */
export type SandboxProvider = (request: SandboxRequest) => Promise<Sandbox>;
