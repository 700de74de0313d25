import { lstat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { GloveboxError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { type Dropped, droppedWords } from "../policy/dropped.ts";
import { type Effective, effectivePolicy } from "../policy/effective.ts";
import { unaskedRegistry } from "../policy/hosts.ts";
import { type Layer, type LayerName, NO_OPINION } from "../policy/layer.ts";
import type { ParsedPolicy } from "../policy/parse.ts";
import { type Policy, policyOf } from "../policy/policy.ts";
import { type PolicyBytes, PROJECT_POLICY, readIfThere, readNamed, readProject } from "./policy-file.ts";
import { parseEnforced } from "./policy-parse.ts";
import { presetNames, presetPath } from "./presets.ts";
import type { Surroundings } from "./surroundings.ts";

/** What a person says of the policy on the command line. */
export type PolicyRequest = {
  /** Takes the place of the person's file: a preset's name or a path. */
  policy?: string | undefined;
  /** What is dropped is an error. */
  strictPolicy?: boolean | undefined;
  image?: string | undefined;
  maxTurns?: number | undefined;
  maxSeconds?: number | undefined;
  /** `HOST[:PORT]` each: added to the hosts the person allows. */
  allowHosts?: readonly string[] | undefined;
};

export type PolicySource = { layer: LayerName; file: string; sha256: string; trusted: boolean };

/** Where a policy came from, for logs and people. */
export type PolicyFacts = { sources: PolicySource[]; dropped: Dropped[]; warnings: string[] };

export type LoadedPolicy = {
  policy: Policy;
  bounds: Effective["bounds"];
  facts: PolicyFacts;
  /** Where each rule stands: `FILE:LINE` by its id. */
  places: ReadonlyMap<string, string>;
};

/**
 * The policy in force for a workspace, from all who have a say; each file is read once, before anything starts.
 * @throws GloveboxError `CONFIG_INVALID` for a file that is no policy, for a rule that nothing enforces yet, and for
 * what is dropped where that is to be an error; `USAGE` for what is no host to allow. `project: "trusted"` is the policy
 * there would be if the person trusted the project's file.
 */
export async function loadPolicy(
  root: string,
  request: PolicyRequest,
  surroundings: Surroundings,
  as?: { project: "trusted" },
): Promise<LoadedPolicy> {
  const [organisation, user, project] = await Promise.all([
    readIfThere(surroundings.organisationPolicy, surroundings.organisationPolicy),
    readUser(request.policy, surroundings),
    readProject(root),
  ]);
  const files = await Promise.all([
    parsed(organisation, "organisation"),
    parsed(user, "user"),
    parsed(project, "project"),
  ]);
  // Programs are run on the word of a file that is trusted, not of one that may be.
  const isHeard = project !== undefined && (await isTrustedFile(project, surroundings));
  const isProjectTrusted = isHeard || (project !== undefined && as !== undefined);
  const flags = await flagLayer(request);
  const opinions = await withRegistries(files, { isHeard, root, surroundings });
  const effective = effectivePolicy({
    organisation: opinions.layers[0],
    user: opinions.layers[1],
    project: opinions.layers[2],
    isProjectTrusted,
    flags: flags.layer,
  });
  const sources = files.flatMap((file) => (file ? [sourceOf(file, isProjectTrusted)] : []));
  const warnings = [
    ...files.flatMap((file) => file?.warnings ?? []),
    ...flags.warnings,
    ...effective.warnings,
    ...opinions.warnings,
    ...(await outerPolicies(root)),
  ];
  const policy = concluded(effective, { sources, dropped: effective.dropped, warnings }, request, surroundings);
  const places = files.flatMap(
    (file) => file?.rules.map(({ id, line }) => [id, `${file.file}:${line}`] as const) ?? [],
  );
  return { ...policy, places: new Map(places) };
}

function concluded(
  { bounds, image, runtime }: Effective,
  facts: PolicyFacts,
  { strictPolicy }: PolicyRequest,
  { secrets }: Surroundings,
): Omit<LoadedPolicy, "places"> {
  if (!image) {
    throw new GloveboxError("CONFIG_INVALID", "No image is allowed by every policy that names images", {
      hint: "`glovebox policy show` prints who names which; add one to `images` there",
    });
  }
  const [first] = facts.dropped;
  if (strictPolicy && first) {
    const more = facts.dropped.length > 1 ? ` and ${facts.dropped.length - 1} more` : "";
    throw new GloveboxError("CONFIG_INVALID", `The policy drops ${droppedWords(first)}${more}`, {
      hint: "Ask for less, or run without `--strict-policy`; `glovebox policy show` lists what is dropped",
    });
  }
  const policy = policyOf(bounds, { image, runtime });
  const credential = policy.env.pass.find(({ value }) => secrets.get(value) !== undefined);
  if (credential) {
    throw new GloveboxError(
      "CONFIG_INVALID",
      `Policy rule ${credential.rule}: \`${credential.value}\` is a credential`,
      {
        hint: "No command gets one; take it out of `env.pass`",
      },
    );
  }
  return { policy, bounds, facts };
}

/** A project's policy is that of the workspace; one of a folder around it may have been meant, and is named. */
async function outerPolicies(root: string): Promise<string[]> {
  for (let folder = dirname(root); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, PROJECT_POLICY);
    const info = await lstat(file).catch(() => undefined);
    if (info)
      return [
        `\`${file}\` is not used, it belongs to a folder around this workspace: start there, or use \`--policy\``,
      ];
  }
  return [];
}

/** The file `--policy` means, or the person's own. */
async function readUser(
  policy: string | undefined,
  { cwd, home, packageRoot }: Surroundings,
): Promise<PolicyBytes | undefined> {
  const own = join(home.root, "policy.yaml");
  if (policy === undefined) return readIfThere(own, own);
  if (!/^[a-z]+$/.test(policy)) return readNamed(resolve(cwd, policy), policy);
  const names = await presetNames(packageRoot);
  if (names.includes(policy)) return readNamed(presetPath(packageRoot, policy), policy);
  const found = await readIfThere(resolve(cwd, policy), policy);
  if (found) return found;
  const close = nearest(policy, names);
  throw new GloveboxError("CONFIG_INVALID", `Policy \`${policy}\` is neither a preset nor a file`, {
    hint: close ? `Did you mean \`--policy ${close}\`?` : `Presets are ${names.join(", ")}`,
  });
}

type ParsedFile = ParsedPolicy & { sha256: string };

/** yaml and zod are loaded when there is something to parse. */
async function parsed(source: PolicyBytes | undefined, layer: LayerName): Promise<ParsedFile | undefined> {
  if (!source) return undefined;
  const { hashOf } = await import("./trust.ts");
  return { ...(await parseEnforced(source, layer)), sha256: hashOf(source.bytes) };
}

async function isTrustedFile(project: PolicyBytes, { home }: Surroundings): Promise<boolean> {
  const { isTrusted } = await import("./trust.ts");
  return isTrusted(home, project);
}

function sourceOf({ layer, file, sha256 }: ParsedFile, isProjectTrusted: boolean): PolicySource {
  return { layer, file, sha256, trusted: layer !== "project" || isProjectTrusted };
}

type Worded<T> = T & { warnings: string[] };

async function flagLayer({
  image,
  maxTurns,
  maxSeconds,
  allowHosts,
}: PolicyRequest): Promise<Worded<{ layer: Layer }>> {
  const { hosts, warnings } = allowHosts?.length
    ? await (await import("../policy/allow-host.ts")).allowHostLayer(allowHosts)
    : { hosts: {}, warnings: [] };
  const layer: Layer = {
    ...NO_OPINION,
    hosts,
    numbers: {
      ...(maxTurns !== undefined && { "limits.turns": { value: maxTurns, rule: "flag/max-turns" } }),
      ...(maxSeconds !== undefined && { "limits.minutes": { value: maxSeconds, rule: "flag/max-seconds" } }),
    },
    picks: image === undefined ? {} : { image: { value: image, rule: "flag/image" } },
  };
  return { layer, warnings };
}

type Files = readonly (ParsedFile | undefined)[];

function namesRegistry({ hosts: { allow, ask, deny } }: Layer): boolean {
  return [allow, ask, deny].some((list) => list?.items.some(({ value }) => unaskedRegistry(value) !== undefined));
}

/** Package managers of this machine are asked before anything is judged, and only those that a rule names. */
async function withRegistries(
  files: Files,
  { isHeard, root, surroundings }: { isHeard: boolean; root: string; surroundings: Surroundings },
): Promise<Worded<{ layers: readonly (Layer | undefined)[] }>> {
  const layers = files.map((file) => file?.opinions);
  if (!layers.some((layer) => layer && namesRegistry(layer))) return { layers, warnings: [] };
  const { resolveRegistries } = await import("./registries/registries.ts");
  const { Programs } = await import("./registries/programs.ts");
  const asking = files.map((file) => ({ layer: file?.opinions, isAsking: file?.layer !== "project" || isHeard }));
  const programs = await Programs.outside(root, surroundings.env, surroundings.userHome);
  const { open, ...resolved } = await resolveRegistries(asking, programs);
  const [first] = open;
  if (!first) return resolved;
  const file = files.find((one) => one?.rules.some(({ id }) => id === first.rule));
  const { ruleError } = await import("../policy/parse.ts");
  const problem = `${first.rule} would not hold for all it means (${first.why}); name the hosts instead`;
  throw ruleError(file ?? { file: first.rule, rules: [] }, first.rule, problem);
}
