import { GloveboxError } from "../core/errors.ts";
import { contradictionsIn } from "./contradictions.ts";
import { type PlacedValue, parsePlaced } from "./document.ts";
import { suffixOf } from "./host-pattern.ts";
import { describeIssue } from "./issue.ts";
import type { Layer, LayerName } from "./layer.ts";
import { layerOf } from "./read-layer.ts";
import { type PolicyFile, policySchema } from "./schema.ts";

/** The most bytes a policy file may have. */
export const MAX_POLICY_BYTES = 1024 * 1024;

export type PolicyPlace = {
  /** As the person wrote it, for messages. */
  file: string;
  layer: LayerName;
};

export type ParsedPolicy = PolicyPlace & {
  opinions: Layer;
  /** Every rule of the file, in its order, with the line it stands at. */
  rules: { id: string; line: number }[];
  /** What is allowed and yet dangerous, in words. */
  warnings: string[];
};

/** Parses the text of a policy file. @throws GloveboxError `CONFIG_INVALID` with file, line and what was expected. */
export async function parsePolicy(text: string, place: PolicyPlace): Promise<ParsedPolicy> {
  if (Buffer.byteLength(text) > MAX_POLICY_BYTES) throw invalid(place, undefined, "it has more than 1 MiB");
  const placed = parsePlaced(text);
  if ("problem" in placed) throw invalid(place, placed.line, placed.problem);
  if (placed.value === null || placed.value === undefined) {
    throw invalid(place, undefined, "it is empty; expected `version: 1` and rules");
  }
  const parsed = policySchema.safeParse(placed.value);
  if (!parsed.success) {
    const { line, problem } = describeIssue(parsed.error.issues[0], placed);
    throw invalid(place, line, problem);
  }
  const opinions = layerOf(parsed.data, place.layer);
  const rules = rulesOf(parsed.data, place.layer, placed);
  const warnings = [...(await judgeWildcards({ ...place, opinions, rules })), ...contradictionsIn(opinions)];
  return { ...place, opinions, rules, warnings };
}

/** The error for a rule that parses and cannot be. */
export function ruleError(parsed: Pick<ParsedPolicy, "file" | "rules">, rule: string, problem: string): GloveboxError {
  return invalid(parsed, parsed.rules.find(({ id }) => id === rule)?.line, problem);
}

async function judgeWildcards(parsed: Omit<ParsedPolicy, "warnings">): Promise<string[]> {
  const warnings: string[] = [];
  for (const list of [parsed.opinions.hosts.allow, parsed.opinions.hosts.ask]) {
    for (const { value, rule } of list?.items ?? []) {
      const suffix = await suffixOf(value.host);
      if (suffix === "public") {
        const problem = `\`${value.host}\` is every site below a public suffix; name a domain, such as \`*.example.com\``;
        throw ruleError(parsed, rule, problem);
      }
      if (suffix === "shared") warnings.push(`${rule}: everybody can have a site that \`${value.host}\` matches`);
    }
  }
  return warnings;
}

function rulesOf(file: PolicyFile, layer: LayerName, placed: PlacedValue): ParsedPolicy["rules"] {
  const leaves = Object.entries(file).flatMap(([section, value]) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.entries(value).map(([key, leaf]): [string[], unknown] => [[section, key], leaf])
      : [[[section], value] as [string[], unknown]],
  );
  return leaves.flatMap(([path, value]) => {
    const id = `${layer}/${path.join(".")}`;
    const own = { id, line: placed.lineOfKey(path.slice(0, -1), path.at(-1) ?? "") };
    if (Array.isArray(value)) {
      return [own, ...value.map((_, index) => ({ id: `${id}[${index}]`, line: placed.lineOf([...path, index]) }))];
    }
    if (typeof value !== "object" || value === null) return [own];
    return [own, ...Object.keys(value).map((key) => ({ id: `${id}.${key}`, line: placed.lineOfKey(path, key) }))];
  });
}

function invalid({ file }: { file: string }, line: number | undefined, problem: string): GloveboxError {
  const place = line === undefined ? "" : `, line ${line}`;
  return new GloveboxError("CONFIG_INVALID", `Policy \`${file}\`${place}: ${problem}`, {
    hint: "`docs/policy.md` lists every key; `glovebox policy check FILE` checks a file",
  });
}
