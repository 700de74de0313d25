import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { isGlob } from "../core/path-rules.ts";
import type { Policy } from "../policy/policy.ts";

/**
 * Makes the folders that a policy names in an empty workspace: a rule of a person's that names nothing keeps a sandbox
 * from opening. What is there already stays as it is.
 */
export async function furnish(root: string, { readonly, writable }: Policy): Promise<void> {
  const named = [...readonly, ...writable.items].filter(
    ({ value, rule }) => !rule.startsWith("built-in/") && !isGlob(value),
  );
  for (const { value } of named) await mkdir(join(root, value), { recursive: true }).catch(ignoreExisting);
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST" && error.code !== "ENOTDIR") throw error;
}
