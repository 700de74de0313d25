import type { PolicyLimits } from "../policy/policy.ts";
import { sizeText } from "../policy/size.ts";
import { temporarySizes } from "../sandbox/container-spec.ts";

export type FittedLimits = {
  limits: PolicyLimits;
  /** What is less than the policy allows, in words. */
  notes: string[];
};

/** Pure: the limits as this engine can keep them, which refuses more processors than it has; `rules` say who set each. */
export function fitLimits(
  limits: PolicyLimits,
  rules: Readonly<Record<string, string>>,
  engine: { cpus: number },
): FittedLimits {
  // An engine that does not say how many it has is left to judge for itself.
  const cpus = engine.cpus > 0 ? Math.min(limits.cpus, engine.cpus) : limits.cpus;
  const { tmp } = temporarySizes(limits);
  const notes = [
    cpus < limits.cpus &&
      `processors: ${cpus}, which is all the engine has, of the ${limits.cpus} that ${rules["limits.cpus"]} allows`,
    tmp < limits.tmpBytes &&
      `/tmp holds ${Math.floor(tmp / 1024 ** 2)}MB, of the ${sizeText(limits.tmpBytes)} that ${rules["limits.tmp"]} allows, as temporary files count as memory`,
  ];
  return { limits: { ...limits, cpus }, notes: notes.filter((words) => words !== false) };
}
