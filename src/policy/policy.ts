import type { EffectKind } from "../core/effects.ts";
import { type Bounds, boundsOf } from "./bounds.ts";
import { BUILT_IN_LAYER } from "./built-in.ts";
import { type CommandRules, commandRulesOf } from "./decide-command.ts";
import { CHOICE_NAMES, LIST_NAMES, NUMBERS, type NumberName, type Ruled, type RuledList } from "./layer.ts";
import { protectionsOf } from "./protections.ts";

/** What an effect needs before it happens: nothing, a person's yes, or it never does. */
export type ApprovalSetting = "allow" | "ask" | "deny";

/** Sizes in bytes, times in seconds. */
export type PolicyLimits = {
  cpus: number;
  memoryBytes: number;
  /** Processes the agent may have at once. */
  pids: number;
  /** Size of /tmp. */
  tmpBytes: number;
  /** Output of a command that the model is shown. */
  outputBytes: number;
  turns: number;
  toolCalls: number;
  seconds: number;
  /** The longest a command may run. */
  callSeconds: number;
};

/** The rules in force for one session; read once, before the container starts. */
export type Policy = {
  approval: Record<EffectKind, ApprovalSetting>;
  /** What is said of single commands. */
  commands: CommandRules;
  limits: PolicyLimits;
  /** Workspace-relative folders and files that can be changed; `.` is all of it. */
  writable: RuledList<string>;
  /** Workspace-relative paths and patterns that cannot be changed; wins over `writable`. */
  readonly: readonly Ruled<string>[];
  /** Whether files with names outside the workspace are read-only, and who says so. */
  hardlinks: Ruled<"protect" | "allow">;
  /** The same for what cannot be seen either; wins over `readonly`. */
  hidden: readonly Ruled<string>[];
  /** Tools that never run. */
  deniedTools: readonly Ruled<string>[];
  network: {
    /** What each layer says of hosts; see `decideConnection`. */
    hosts: Bounds["hosts"];
    /** Services of the host, as `5433 to 127.0.0.1:5432`. */
    forward: readonly Ruled<string>[];
    /** The most bytes that go to one host in a session; undefined is no limit. */
    uploadBytes: Ruled<number> | undefined;
  };
  /** A reference; `glovebox/base` is the image this version builds. */
  image: string;
  sandbox: {
    /** Commands may trace each other. */
    ptrace: boolean;
    /** The OCI runtime, and the rule that names it; undefined is the engine's own choice. */
    runtime: Ruled<string> | undefined;
  };
  env: {
    /** `NAME=value`, set in the environment of commands. */
    set: readonly Ruled<string>[];
    /** Names that commands get from the environment of the person, if they are set there. */
    pass: readonly Ruled<string>[];
  };
  /** Which rule made each value, by its key: `user/limits.cpus`. */
  origins: Readonly<Record<string, string>>;
};

/** What is chosen rather than bound. */
export type Picked = { image: Ruled<string>; runtime: Ruled<string> | undefined };

/** The bounds of all layers, the built-in one included, as what is enforced. */
export function policyOf({ numbers, choices, lists, hosts }: Bounds, { image, runtime }: Picked): Policy {
  const number = (name: NumberName): number => required(numbers[name]).value;
  const approval = (kind: EffectKind): ApprovalSetting =>
    required(choices[`approval.${kind}`]).value as ApprovalSetting;
  return {
    approval: { read: approval("read"), write: approval("write"), exec: approval("exec"), net: approval("net") },
    commands: commandRulesOf({ lists }),
    limits: {
      cpus: number("limits.cpus"),
      memoryBytes: number("limits.memory"),
      pids: number("limits.pids"),
      tmpBytes: number("limits.tmp"),
      outputBytes: number("limits.output"),
      turns: number("limits.turns"),
      toolCalls: number("limits.tool_calls"),
      seconds: number("limits.minutes"),
      callSeconds: number("limits.call_seconds"),
    },
    writable: required(lists["workspace.writable"]),
    ...protectionsOf({ lists, choices }),
    hardlinks: required(choices["workspace.hardlinks"]) as Policy["hardlinks"],
    deniedTools: required(lists["tools.deny"]).items,
    network: {
      hosts,
      forward: required(lists["network.forward"]).items,
      uploadBytes: numbers["network.upload_limit"],
    },
    image: image.value,
    sandbox: { ptrace: required(choices["sandbox.ptrace"]).value === "true", runtime },
    env: { set: required(lists["env.set"]).items, pass: required(lists["env.pass"]).items },
    origins: originsOf({ numbers, choices, lists }, image),
  };
}

function originsOf({ numbers, choices, lists }: Omit<Bounds, "hosts">, image: Ruled<string>): Record<string, string> {
  const leaves = [
    ...NUMBERS.map((name) => [name, numbers[name]?.rule] as const),
    ...CHOICE_NAMES.map((name) => [name, choices[name]?.rule] as const),
    ...LIST_NAMES.map((name) => [name, lists[name]?.rule] as const),
    ["image", image.rule] as const,
  ];
  return Object.fromEntries(leaves.flatMap(([name, rule]) => (rule === undefined ? [] : [[name, rule]])));
}

/** The built-in layer has an opinion on all that is enforced, so a missing one is a fault of ours, never a yes. */
function required<T>(opinion: T | undefined): T {
  if (opinion === undefined) throw new Error("The built-in policy leaves something open");
  return opinion;
}

/** The policy of a session that nobody configured. */
export const BUILT_IN_POLICY: Policy = policyOf(boundsOf(BUILT_IN_LAYER), {
  image: required(BUILT_IN_LAYER.picks.image),
  runtime: undefined,
});
