import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Secrets } from "../core/secrets.ts";
import type { Dialler } from "../egress/dialler.ts";
import { type Home, homeOf } from "./home.ts";

/** What a command of glovebox runs in; made once, by whoever was started. */
export type Surroundings = {
  /** The environment without its secrets. */
  env: NodeJS.ProcessEnv;
  secrets: Secrets;
  cwd: string;
  userHome: string;
  home: Home;
  /** The ceiling of an organisation, if the file is there. */
  organisationPolicy: string;
  /** Where this package's `images/`, `policies/` and `dist/` are. */
  packageRoot: string;
  /** Where names are looked up and connections made; this machine's own when omitted. */
  dialler?: Dialler;
};

export function surroundingsOf(
  env: NodeJS.ProcessEnv,
  secrets: Secrets,
  places: { cwd: string; userHome: string },
): Surroundings {
  const organisationPolicy = "/etc/glovebox/policy.yaml";
  const packageRoot = findPackageRoot(import.meta.url);
  return { env, secrets, ...places, home: homeOf(env, places.userHome), organisationPolicy, packageRoot };
}

/** The nearest folder above with `images/`: this file runs from `src`, from `dist` and from a bundle's chunk. */
function findPackageRoot(url: string): string {
  const start = dirname(fileURLToPath(url));
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "images", "pins.json"))) return folder;
    if (folder === dirname(folder)) return start;
  }
}
