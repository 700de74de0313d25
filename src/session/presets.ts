import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** Names of the policies that come with glovebox. */
export async function presetNames(packageRoot: string): Promise<string[]> {
  const files = await readdir(join(packageRoot, "policies")).catch(() => []);
  return files.flatMap((file) => (file.endsWith(".yaml") ? [file.slice(0, -".yaml".length)] : [])).toSorted();
}

export function presetPath(packageRoot: string, name: string): string {
  return join(packageRoot, "policies", `${name}.yaml`);
}
