import { type Effective, effectivePolicy, type Layers } from "../../src/policy/effective.ts";
import type { Layer, LayerName } from "../../src/policy/layer.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { type Policy, policyOf } from "../../src/policy/policy.ts";

type Texts = {
  organisation?: string;
  user?: string;
  project?: string;
  isProjectTrusted?: boolean;
  flags?: Layer;
};

/** The policy that files with these rules make, without their `version: 1` and without a disk. */
export async function effectiveOf({
  isProjectTrusted,
  flags,
  ...texts
}: Texts): Promise<Effective & { policy: Policy }> {
  const layers: Layers = { isProjectTrusted, flags };
  for (const layer of ["organisation", "user", "project"] as const) {
    const text = texts[layer];
    if (text !== undefined) layers[layer] = await opinionsOf(text, layer);
  }
  const effective = effectivePolicy(layers);
  if (!effective.image) throw new Error("These layers allow no image");
  return { ...effective, policy: policyOf(effective.bounds, { image: effective.image, runtime: effective.runtime }) };
}

/** The same, as what is enforced. */
export async function policyFrom(texts: Texts): Promise<Policy> {
  return (await effectiveOf(texts)).policy;
}

async function opinionsOf(text: string, layer: LayerName): Promise<Layer> {
  return (await parsePolicy(`version: 1\n${text}`, { file: `${layer}.yaml`, layer })).opinions;
}
