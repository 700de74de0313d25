import { keptFile } from "../kept-file.ts";
import { type SeccompChoice, seccompJson } from "./profile.ts";

/**
 * Our profile in the form the engine takes it through its API: Docker as text, Podman as the path of a file, which it
 * opens itself (podman-container-tools/podman#27710). Each fails at the other's, so nothing starts with a profile that
 * is not ours.
 */
export async function seccompOption(
  engine: { isPodman: boolean },
  choice: SeccompChoice,
  cacheDir: string,
): Promise<string> {
  const json = seccompJson(choice);
  return engine.isPodman ? keptFile(json, cacheDir) : json;
}
