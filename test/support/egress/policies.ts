import { effectivePolicy } from "../../../src/policy/effective.ts";
import type { Layer } from "../../../src/policy/layer.ts";
import { parsePolicy } from "../../../src/policy/parse.ts";
import { BUILT_IN_POLICY, type Policy, policyOf } from "../../../src/policy/policy.ts";

type Texts = Partial<Record<"organisation" | "user" | "project", string>>;

/** The policy in force when these stand in the policy files, without their `version: 1`. */
export async function policyFrom(texts: Texts): Promise<Policy> {
  const layers: Partial<Record<keyof Texts, Layer>> = {};
  for (const [layer, text] of Object.entries(texts) as [keyof Texts, string][]) {
    layers[layer] = (await parsePolicy(`version: 1\n${text}\n`, { file: "p.yaml", layer })).opinions;
  }
  const { bounds, runtime } = effectivePolicy(layers);
  return policyOf(bounds, { image: { value: BUILT_IN_POLICY.image, rule: "built-in/image" }, runtime });
}
