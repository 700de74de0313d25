import { GloveboxError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import type { LayerName } from "../policy/layer.ts";
import type { ParsedPolicy } from "../policy/parse.ts";
import { unenforcedIn } from "../policy/unenforced.ts";
import { TOOL_NAMES } from "../tools/catalogue.ts";
import type { PolicyBytes } from "./policy-file.ts";

/** A policy all of which is enforced. @throws GloveboxError `CONFIG_INVALID`. */
export async function parseEnforced({ file, bytes }: PolicyBytes, layer: LayerName): Promise<ParsedPolicy> {
  const { parsePolicy, ruleError } = await import("../policy/parse.ts");
  const policy = await parsePolicy(textOf(file, bytes), { file, layer });
  const [missing] = unenforcedIn(policy.opinions);
  if (missing) {
    const problem = `\`${missing.key}\` is not enforced yet, so nothing is started with it; take it out`;
    throw ruleError(policy, missing.rule, problem);
  }
  const unknown = policy.opinions.lists["tools.deny"]?.items.find(({ value }) => !isTool(value));
  if (unknown) {
    const close = nearest(unknown.value, TOOL_NAMES);
    const hint = close ? `did you mean \`${close}\`?` : `there are ${TOOL_NAMES.join(", ")}`;
    throw ruleError(policy, unknown.rule, `\`${unknown.value}\` is no tool; ${hint}`);
  }
  return policy;
}

function isTool(name: string): boolean {
  return TOOL_NAMES.some((tool) => tool === name);
}

function textOf(file: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new GloveboxError("CONFIG_INVALID", `Policy \`${file}\`: it is not UTF-8 text`, {
      hint: "A policy is a YAML file: `glovebox policy init` writes one",
      cause,
    });
  }
}
