import { relative, resolve } from "node:path";
import type { EffectKind } from "../core/effects.ts";
import { GloveboxError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { decide, decideEffect } from "../policy/decide.ts";
import { decidePath } from "../policy/decide-path.ts";
import { normalPath } from "../policy/paths.ts";
import { contractOf, isToolName, TOOL_NAMES } from "../tools/catalogue.ts";
import { explainHost, type HostExplanation } from "./explain-host.ts";
import type { LoadedPolicy } from "./policy.ts";

/** A decision of a policy and the rule that made it; of a host also how a connection is treated. */
export type Explanation = { decision: string; rule: string } | HostExplanation;

export const EXPLAINED = ["path", "host", "command", "tool", "effect"] as const;
export type ExplainedKind = (typeof EXPLAINED)[number];

/** What a policy says of one thing. @throws GloveboxError `USAGE` for what is no path, host, command, tool or effect. */
export function explain(kind: ExplainedKind, value: string, loaded: LoadedPolicy, root: string): Explanation {
  switch (kind) {
    case "path":
      return explainPath(value, loaded, root);
    case "host":
      return explainHost(value, loaded.policy);
    case "command":
      return explainCommand(value, loaded);
    case "tool":
      return explainTool(value, loaded);
    case "effect": {
      const { type, rule } = decideEffect(loaded.policy, requireEffect(value));
      return { decision: type, rule };
    }
    default:
      return kind satisfies never;
  }
}

function explainPath(value: string, { bounds }: LoadedPolicy, root: string): Explanation {
  const path = relative(root, resolve(root, value));
  if (path === ".." || path.startsWith("../")) return { decision: "not mounted", rule: "built-in/container.root" };
  const { type, rule } = decidePath(bounds, normalPath(path));
  return { decision: type, rule };
}

function explainCommand(command: string, { policy }: LoadedPolicy): Explanation {
  if (command.trim() === "") throw new GloveboxError("USAGE", "The command is empty", { hint: "Quote it as one word" });
  const { type, rule } = decide(policy, { tool: "bash", effects: [{ kind: "exec", command }] });
  return { decision: type, rule };
}

function explainTool(value: string, { policy }: LoadedPolicy): Explanation {
  if (!isToolName(value)) throw unknown("tool", value, TOOL_NAMES);
  // A tool that may run a command counts as doing so; of the empty one no rule speaks.
  const effects = contractOf(value).effects({ action: "start", command: "" });
  const { type, rule } = decide(policy, { tool: value, effects });
  return { decision: type, rule };
}

const EFFECTS: readonly EffectKind[] = ["read", "write", "exec", "net"];

function requireEffect(value: string): EffectKind {
  const found = EFFECTS.find((kind) => kind === value);
  if (found === undefined) throw unknown("effect", value, EFFECTS);
  return found;
}

function unknown(what: string, value: string, known: readonly string[]): GloveboxError {
  const close = nearest(value, known);
  return new GloveboxError("USAGE", `There is no ${what} \`${value}\``, {
    hint: close ? `Did you mean \`${close}\`?` : `There are ${known.map((name) => `\`${name}\``).join(", ")}`,
  });
}
