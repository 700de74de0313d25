import type { HostListName, Layer, Ruled, RuledList } from "./layer.ts";
import { PROTECTED } from "./protected.ts";

const GIB = 1024 ** 3;

function said<T>(leaf: string, value: T): Ruled<T> {
  return { value, rule: `built-in/${leaf}` };
}

function listed(leaf: string, values: readonly string[]): RuledList<string> {
  return { rule: `built-in/${leaf}`, items: values.map((value, index) => said(`${leaf}[${index}]`, value)) };
}

const noHost = (name: HostListName) => ({ rule: `built-in/network.${name}`, items: [] });

/**
 * What holds where nobody says anything else. Approval is `allow` because a session starts only after the container
 * has proved its wall; no host can be reached because the container has no network.
 */
export const BUILT_IN_LAYER: Layer = {
  numbers: {
    "limits.cpus": said("limits.cpus", 2),
    "limits.memory": said("limits.memory", 4 * GIB),
    "limits.pids": said("limits.pids", 512),
    "limits.tmp": said("limits.tmp", GIB),
    "limits.output": said("limits.output", 50 * 1024),
    "limits.call_seconds": said("limits.call_seconds", 3600),
    "limits.turns": said("limits.turns", 50),
    "limits.tool_calls": said("limits.tool_calls", 500),
    "limits.minutes": said("limits.minutes", 3600),
  },
  choices: {
    "approval.read": said("approval.read", "allow"),
    "approval.write": said("approval.write", "allow"),
    "approval.exec": said("approval.exec", "allow"),
    "approval.net": said("approval.net", "allow"),
    "workspace.mode": said("workspace.mode", "bind"),
    "workspace.git": said("workspace.git", "readonly"),
    "workspace.hardlinks": said("workspace.hardlinks", "protect"),
    "sandbox.ptrace": said("sandbox.ptrace", "false"),
    "workspace.cache": said("workspace.cache", "false"),
  },
  lists: {
    "workspace.writable": listed("workspace.writable", ["."]),
    "workspace.readonly": listed("workspace.readonly", []),
    "workspace.protected": listed("workspace.protected", PROTECTED),
    "workspace.hidden": listed("workspace.hidden", []),
    "workspace.unprotect": listed("workspace.unprotect", []),
    "network.forward": listed("network.forward", []),
    "tools.deny": listed("tools.deny", []),
    "env.set": { rule: "built-in/env.set", items: [said("env.set.CI", "CI=1")] },
    // Not LANG: most images lack the person's locale, and programs then fall back to bytes, or warn.
    "env.pass": listed("env.pass", ["TZ"]),
  },
  hosts: { allow: noHost("allow"), ask: noHost("ask"), deny: noHost("deny") },
  picks: { image: said("image", "glovebox/base") },
};
