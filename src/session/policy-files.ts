import { constants } from "node:fs";
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { GloveboxError, systemCode } from "../core/errors.ts";
import type { Dropped } from "../policy/dropped.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { type LoadedPolicy, loadPolicy, type PolicyRequest } from "./policy.ts";
import { type PolicyBytes, PROJECT_POLICY, readNamed, readProject, refuseLink } from "./policy-file.ts";
import { parseEnforced } from "./policy-parse.ts";
import { presetPath } from "./presets.ts";
import type { Surroundings } from "./surroundings.ts";
import { trust, untrust } from "./trust.ts";

/** The policy that a run in a folder would have. */
export async function policyFor(
  dir: string,
  request: PolicyRequest,
  surroundings: Surroundings,
): Promise<{ root: string; loaded: LoadedPolicy }> {
  const root = await rootOf(dir, surroundings);
  return { root, loaded: await loadPolicy(root, request, surroundings) };
}

/** What a file says is a policy, all of which is enforced. @throws GloveboxError `CONFIG_INVALID`. */
export async function checkPolicy(file: string, { cwd }: Surroundings): Promise<{ rules: number; warnings: string[] }> {
  const { rules, warnings } = await parseEnforced(await readNamed(resolve(cwd, file), file), "user");
  return { rules: rules.filter(({ id }) => isLeaf(id, rules)).length, warnings };
}

/** A list or a map is as many rules as it has items; the version of the format is none. */
function isLeaf(rule: string, rules: readonly { id: string }[]): boolean {
  return !rule.endsWith("/version") && !rules.some(({ id }) => id.startsWith(`${rule}[`) || id.startsWith(`${rule}.`));
}

/** Writes a commented policy where there is none; gives its path. @throws GloveboxError `USAGE` where there is one. */
export async function initPolicy(dir: string, who: "project" | "user", surroundings: Surroundings): Promise<string> {
  const { home, packageRoot } = surroundings;
  const text = await initialText(packageRoot, who);
  const path = who === "user" ? join(home.root, "policy.yaml") : join(await rootOf(dir, surroundings), PROJECT_POLICY);
  await mkdir(dirname(path), { recursive: true, mode: who === "user" ? 0o700 : 0o755 });
  if (who === "project") await refuseLink(dirname(path));
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await open(path, flags, who === "user" ? 0o600 : 0o644);
    await file.writeFile(text).finally(() => file.close());
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    throw new GloveboxError("USAGE", `\`${path}\` is there already`, { hint: "Nothing was changed; edit that file" });
  }
  return path;
}

/** Editors find the schema by a path of this machine, which has no place in a project. */
async function initialText(packageRoot: string, who: "project" | "user"): Promise<string> {
  const text = await readFile(presetPath(packageRoot, "default"), "utf8");
  const [first = "", ...rest] = text.split("\n");
  const schema = first.replace("./schema.json", join(packageRoot, "policies/schema.json"));
  return [...(who === "user" ? [schema] : []), ...rest].join("\n");
}

/** A project's policy as a person is to see it before they trust it, with what it gets by their trust and what never. */
export type Proposal = { source: PolicyBytes; text: string; gains: Dropped[]; refused: Dropped[] };

/** @throws GloveboxError `CONFIG_INVALID` where there is none or it is no policy. */
export async function proposalOf(dir: string, surroundings: Surroundings): Promise<Proposal> {
  const root = await rootOf(dir, surroundings);
  const source = await readProject(root);
  if (!source) {
    throw new GloveboxError("CONFIG_INVALID", `There is no \`${PROJECT_POLICY}\` in \`${root}\``, {
      hint: "`glovebox policy init` writes one",
    });
  }
  await parseEnforced(source, "project");
  const now = droppedOf(await loadPolicy(root, {}, surroundings));
  const refused = droppedOf(await loadPolicy(root, {}, surroundings, { project: "trusted" }));
  const gains = now.filter((item) => !refused.some(({ rule }) => rule === item.rule));
  return { source, text: source.bytes.toString("utf8"), gains, refused };
}

function droppedOf({ facts }: LoadedPolicy): Dropped[] {
  return facts.dropped.filter(({ rule }) => rule.startsWith("project/"));
}

export function acceptProposal({ source }: Proposal, { home }: Surroundings): Promise<void> {
  return trust(home, source);
}

/** Takes trust back; gives whether there was any. */
export async function untrustProject(dir: string, surroundings: Surroundings): Promise<boolean> {
  return untrust(surroundings.home, join(await rootOf(dir, surroundings), PROJECT_POLICY));
}

async function rootOf(dir: string, { cwd, userHome, home }: Surroundings): Promise<string> {
  return (await openWorkspace(resolve(cwd, dir), { userHome, gloveboxHome: home.root })).root;
}
