import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toGloveboxError } from "../core/errors.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { type LoadedPolicy, loadPolicy, type PolicyRequest } from "./policy.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * The policy that a run in the current folder would have; where that folder cannot be a workspace (a home folder), the
 * one of a folder without a project's. @throws as {@link loadPolicy}.
 */
export async function policyHere(request: PolicyRequest, surroundings: Surroundings): Promise<LoadedPolicy> {
  const { cwd, userHome, home } = surroundings;
  try {
    const { root } = await openWorkspace(cwd, { userHome, gloveboxHome: home.root });
    return await loadPolicy(root, request, surroundings);
  } catch (error) {
    if (toGloveboxError(error).code !== "WORKSPACE_REFUSED") throw error;
  }
  const empty = await mkdtemp(join(await realpath(tmpdir()), "glovebox-doctor-"));
  try {
    return await loadPolicy(empty, request, surroundings);
  } finally {
    await rm(empty, { recursive: true, force: true });
  }
}
