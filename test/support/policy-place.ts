import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Secrets } from "../../src/core/secrets.ts";
import { type LoadedPolicy, loadPolicy, type PolicyRequest } from "../../src/session/policy.ts";
import { type Surroundings, surroundingsOf } from "../../src/session/surroundings.ts";

/** A workspace, a home and an organisation's folder, all empty, for what is read before a session starts. */
export class PolicyPlace implements AsyncDisposable {
  readonly folder: string;
  readonly root: string;
  readonly surroundings: Surroundings;

  private constructor(folder: string, env: NodeJS.ProcessEnv, secrets: Secrets) {
    this.folder = folder;
    this.root = join(folder, "repo");
    this.surroundings = {
      ...surroundingsOf({ GLOVEBOX_HOME: join(folder, "home"), ...env }, secrets, { cwd: folder, userHome: folder }),
      organisationPolicy: join(folder, "etc/policy.yaml"),
    };
  }

  static async create(env: NodeJS.ProcessEnv = {}, secrets = new Secrets()): Promise<PolicyPlace> {
    const place = new PolicyPlace(await realpath(await mkdtemp(join(tmpdir(), "glovebox-policy-"))), env, secrets);
    await mkdir(place.root);
    return place;
  }

  /** Writes a file below the place; rules get their `version: 1`. */
  async write(
    path: "etc/policy.yaml" | "home/policy.yaml" | "repo/.glovebox/policy.yaml" | ".glovebox/policy.yaml" | "mine.yaml",
    rules: string,
  ): Promise<void> {
    await mkdir(dirname(join(this.folder, path)), { recursive: true });
    await writeFile(join(this.folder, path), `version: 1\n${rules}\n`);
  }

  load(request: PolicyRequest = {}): Promise<LoadedPolicy> {
    return loadPolicy(this.root, request, this.surroundings);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
