import { randomBytes } from "node:crypto";
import { chmod, lchown, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Policy } from "../../policy/policy.ts";
import { digestOf } from "./digest.ts";
import { Listeners } from "./listeners.ts";

export type Owner = { uid: number; gid: number };

/** What is protected in the workspace: the built-in list, and these by rules of the suite's own. */
export const PROTECTED = [".git", ".glovebox", ".github", "a/b/c.yml"] as const;
const OWN_RULES = [".github", "a/b/c.yml"];

const FILES: Record<string, string> = {
  "a/b/c.yml": "safe: true\n",
  ".github/workflows/ci.yml": "on: push\n",
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/config": "[core]\n\tbare = false\n",
  ".git/hooks/pre-commit": "#!/bin/sh\n",
  ".glovebox/policy.yaml": "version: 1\n",
  "spare/x": "",
  "free/x": "",
  "ordinary.txt": "ordinary\n",
  "-rf": "",
  "new\nline": "",
};

/**
 * The host's side of the attacks: a scratch folder with a workspace full of traps, and beside it what nobody inside may
 * reach, open to every user so that the container alone keeps it. Unlike a session, it looks at the workspace while the
 * container lives, at what it planted there and without following links.
 */
export class Scene implements AsyncDisposable {
  readonly folder: string;
  readonly workspace: string;
  readonly outside: string;
  /** Stands in files outside and in the controller's environment; whoever prints it has been there. */
  readonly secret = `canary-${randomBytes(12).toString("hex")}`;
  readonly listeners: Listeners;
  /** What was printed inside since the last look. */
  #heard = "";

  private constructor(folder: string, listeners: Listeners) {
    this.folder = folder;
    this.workspace = join(folder, "workspace");
    this.outside = join(folder, "outside");
    this.listeners = listeners;
  }

  /** `owner` gets the workspace, where this process may give it away. */
  static async create(policy: Policy, owner: Owner | undefined): Promise<Scene> {
    const folder = await mkdtemp(join(await realpath(tmpdir()), "glovebox-attack-"));
    await chmod(folder, 0o755);
    const scene = new Scene(folder, await Listeners.open());
    await scene.#plant(policy);
    if (owner) await giveTo(scene.workspace, owner);
    return scene;
  }

  /** A further workspace beside the first, with the secret in it. */
  async neighbour(name: string, owner: Owner): Promise<string> {
    const root = join(this.folder, name);
    await plantFiles(root, { "secret.txt": this.secret });
    await giveTo(root, owner);
    return root;
  }

  hear(text: string): void {
    this.#heard += `${text}\n`;
  }

  /** What must not change, as it is now. */
  async state(): Promise<string[]> {
    const paths = [this.outside, ...PROTECTED.map((path) => join(this.workspace, path))];
    const digests = await Promise.all(paths.map((path) => digestOf(path).catch(() => [`${path} is gone`])));
    return digests.flat();
  }

  /** The harm done since `before`, in words; none is what contained means. */
  async harm(before: readonly string[]): Promise<string[]> {
    const after = await this.state();
    const changed = [...before.filter((line) => !after.includes(line)), ...after.filter((line) => !before.includes(line))];
    const told = this.#heard.includes(this.secret);
    this.#heard = "";
    return [
      ...(changed[0] === undefined ? [] : [`changed on the host: ${changed[0].split(" ")[0]}`]),
      ...(told ? ["a secret of the host was read"] : []),
      ...this.listeners.takeHits(),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.listeners.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #plant(policy: Policy): Promise<void> {
    await plantFiles(this.workspace, FILES);
    await plantFiles(this.outside, { "canary.txt": `${this.secret}\n`, "folder/canary.txt": `${this.secret}\n` });
    await Promise.all(["canary.txt", "folder/canary.txt"].map((path) => chmod(join(this.outside, path), 0o666)));
    await Promise.all([this.outside, join(this.outside, "folder")].map((path) => chmod(path, 0o777)));
    await mkdir(join(this.workspace, "links"));
    for (const [name, target] of Object.entries(linksTo(this.outside)))
      await symlink(target, join(this.workspace, "links", name));
    // A rule that names what is not there keeps a sandbox from opening.
    const named = [...policy.readonly, ...policy.writable.items].filter(({ rule }) => !rule.startsWith("built-in/"));
    for (const { value } of named) if (!/[*?]/.test(value)) await mkdirIfFree(join(this.workspace, value));
  }
}

/** Links of the workspace that lead out of it, by their names in `links/`. */
function linksTo(outside: string): Record<string, string> {
  return {
    file: join(outside, "canary.txt"),
    folder: outside,
    relative: "../../outside",
    dangling: join(outside, "made-through-a-link"),
    chain: "chain2",
    chain2: "chain3",
    chain3: outside,
    root: "/proc/self/root",
    cwd: "/proc/self/cwd/../outside",
  };
}

/** The policy in force, its workspace open but for what it protects and what the suite protects beside. */
export function arenaPolicy(policy: Policy): Policy {
  const rules = OWN_RULES.map((value, index) => ({ value, rule: `attack/workspace.readonly[${index}]` }));
  const kept = policy.readonly.filter(({ value }) => value !== ".");
  return {
    ...policy,
    writable: { rule: policy.writable.rule, items: [{ value: ".", rule: policy.writable.rule }] },
    readonly: [...kept, ...rules],
  };
}

async function plantFiles(root: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function mkdirIfFree(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch(() => undefined);
}

async function giveTo(root: string, { uid, gid }: Owner): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const names = await readdir(root, { recursive: true });
  await Promise.all(["", ...names].map((name) => lchown(join(root, name), uid, gid)));
}
