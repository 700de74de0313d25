import { join } from "node:path";
import { GloveboxError } from "../core/errors.ts";
import type { SessionEvent } from "../core/events.ts";
import { VERSION } from "../core/version.ts";
import type { HostApprover } from "../egress/host-approver.ts";
import { ABSENT_APPROVER, type Approver, NO_APPROVER, YES_APPROVER } from "../gate/approver.ts";
import { chooseModel } from "../model/choose.ts";
import type { Reaped } from "../sandbox/reaper.ts";
import { isOptionalTool, OPTIONAL_TOOLS, type OptionalTool, TOOL_NAMES } from "../tools/catalogue.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { dockerProvider } from "./docker-provider.ts";
import { workspaceId } from "./home.ts";
import { loadPolicy } from "./policy.ts";
import { containerChoices } from "./policy-use.ts";
import { finishDead, type Recovered } from "./recover.ts";
import type { RunResult } from "./result.ts";
import { runOnce } from "./run-once.ts";
import type { Surroundings } from "./surroundings.ts";
import { waysOf } from "./ways.ts";

export type RunSettings = {
  prompt: string;
  /** A folder, relative to the current one. */
  workspace: string;
  /** Takes the place of the person's policy file: a preset's name, or a path. */
  policy?: string | undefined;
  /** What a policy asks for beyond what binds it is an error; omitted, it is dropped and said. */
  strictPolicy?: boolean | undefined;
  /** `HOST[:PORT]` each: added to the hosts the person allows, below every ceiling. */
  allowHosts?: readonly string[] | undefined;
  /** `scripted:FILE`, a model name or `PROVIDER:NAME`; what the environment names when omitted. */
  model: string | undefined;
  /** Who answers when approval is asked for; omitted, nothing is asked that the policy allows. */
  approve: "ask" | "auto" | "deny" | undefined;
  /** Asks a person at a terminal; undefined where there is none. */
  person: Approver | undefined;
  /** Asks the same person for hosts, whatever `approve` says; without one no host is admitted that is asked for. */
  personForHosts?: HostApprover | undefined;
  maxTurns: number | undefined;
  maxSeconds: number | undefined;
  /** Repetitions of a request that failed in passing; 4 when omitted. */
  modelRetries: number | undefined;
  image: string | undefined;
  /** Tools to switch on beyond the seven that every session has: `pty`. */
  tools?: readonly string[] | undefined;
  /** Build a missing image of ours. */
  build: boolean;
  onEvent: (event: SessionEvent) => void;
  onProgress: (words: string) => void;
  onReaped: (reaped: Reaped) => void;
  /** What sessions that died had left in the workspace and was moved out of it. */
  onRecovered: (recovered: Recovered) => void;
  signal: AbortSignal;
  /** Aborts what even a stopping run still waits for: the container goes at once. */
  urgent: AbortSignal;
};

/**
 * Runs one prompt as a user of the command line means it. What goes wrong once there is a session is in the result.
 * @throws GloveboxError before that: an empty prompt, no model, a refused workspace, a broken policy.
 */
export async function runPrompt(settings: RunSettings, surroundings: Surroundings): Promise<RunResult> {
  const { env, secrets, cwd, userHome, home, packageRoot } = surroundings;
  if (settings.prompt.trim() === "") {
    throw new GloveboxError("USAGE", "The prompt is empty", {
      hint: 'Say what is to be done: `glovebox run "make the tests pass"`, or pipe it to stdin',
    });
  }
  const tools = requireOptional(settings.tools);
  const model = await chooseModel({ model: settings.model, env, secrets, cwd });
  const { root } = await openWorkspace(settings.workspace, { userHome, gloveboxHome: home.root });
  const { policy, facts } = await loadPolicy(root, settings, surroundings);
  const provider = {
    ...settings,
    env,
    userHome,
    packageRoot,
    cacheDir: home.cache,
    version: VERSION,
    ...containerChoices(policy, env),
  };
  await finishDead(join(home.sessions, workspaceId(root)), provider, settings.signal, settings.onRecovered);
  const { turns, toolCalls, seconds } = policy.limits;
  return runOnce({
    ...settings,
    tools,
    // The folder whose policy was read, wherever a link leads meanwhile.
    workspace: root,
    model,
    modelRetries: settings.modelRetries ?? 4,
    policy,
    policyFacts: facts,
    approver: approverFor(settings),
    askAlways: settings.approve !== undefined,
    ways: waysOf(surroundings, policy, settings.personForHosts),
    limits: { turns, toolCalls, seconds },
    secrets,
    home,
    userHome,
    version: VERSION,
    openSandbox: dockerProvider(provider),
  });
}

function requireOptional(names: readonly string[] = []): OptionalTool[] {
  return names.map((name) => {
    if (isOptionalTool(name)) return name;
    const list = OPTIONAL_TOOLS.map((tool) => `\`${tool}\``).join(", ");
    const isThere = TOOL_NAMES.some((tool) => tool === name);
    const what = isThere ? `The tool \`${name}\` is in every session` : `There is no tool \`${name}\``;
    throw new GloveboxError("USAGE", `${what}; one to switch on was expected`, { hint: `There are ${list}` });
  });
}

function approverFor({ approve, person }: RunSettings): Approver {
  switch (approve) {
    case "auto":
      return YES_APPROVER;
    case "deny":
      return NO_APPROVER;
    case "ask":
    case undefined:
      return person ?? ABSENT_APPROVER;
    default:
      return approve satisfies never;
  }
}
