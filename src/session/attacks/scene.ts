import { randomBytes } from "node:crypto";
import { chmod, lchown, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { matchesPath } from "../../core/path-rules.ts";
import type { Ruled } from "../../policy/layer.ts";
import type { Policy } from "../../policy/policy.ts";
import { furnish } from "../furnish.ts";
import { digestOf } from "./digest.ts";
import { Listeners } from "./listeners.ts";
import { admitting, Outside } from "./outside.ts";

export type Owner = { uid: number; gid: number };

/** What is protected in the workspace: the built-in list, and these by rules of the suite's own. */
const PROTECTED = [".git", ".glovebox", ".github", "a/b/c.yml"] as const;
const OWN_RULES = [".github", "a/b/c.yml"];
const HIDDEN_RULES = ["hidden", "**/*.hide"];
/** Files with the secret in them, which those rules hide. */
const HIDDEN_FILES = ["hidden/key", "deep/keys/key.hide", "key.hide"];

const FILES: Record<string, string> = {
  "a/b/c.yml": "safe: true\n",
  ".github/workflows/ci.yml": "on: push\n",
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/config": "[core]\n\tbare = false\n",
  ".git/hooks/pre-commit": "#!/bin/sh\n",
  ".glovebox/policy.yaml": "version: 1\n",
  "spare/x": "",
  "free/x": "",
  "deep/keys/open": "open\n",
  "ordinary.txt": "ordinary\n",
  "-rf": "",
  "new\nline": "",
};

/** Attacks that try to reach what lies outside: each has a folder of its own there, and links to it. */
const TRAPS = ["FS-01", "FS-02", "FS-04", "FS-05", "FS-06", "FS-07", "FS-08", "FS-09", "FS-10", "FS-12"];

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
  readonly world: Outside;
  /** What was printed inside since the last look. */
  #heard = "";

  private constructor(folder: string, { listeners, world }: { listeners: Listeners; world: Outside }) {
    this.folder = folder;
    this.workspace = join(folder, "workspace");
    this.outside = join(folder, "outside");
    this.listeners = listeners;
    this.world = world;
  }

  /** `owner` gets the workspace, where this process may give it away. */
  static async create(policy: Policy, owner: Owner | undefined): Promise<Scene> {
    const folder = await mkdtemp(join(await realpath(tmpdir()), "glovebox-attack-"));
    await chmod(folder, 0o755);
    const scene = new Scene(folder, { listeners: await Listeners.open(), world: await Outside.open() });
    try {
      await scene.#plant(policy);
      if (owner) await giveTo(scene.workspace, owner);
      return scene;
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The folder outside that the attack `id` is after, with `canary.txt` in it. */
  trap(id: string): string {
    return join(this.outside, id);
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
    const changed = [
      ...before.filter((line) => !after.includes(line)),
      ...after.filter((line) => !before.includes(line)),
    ];
    const told = this.#heard.includes(this.secret);
    this.#heard = "";
    return [
      ...(changed[0] === undefined ? [] : [`changed on the host: ${changed[0].split(" ")[0]}`]),
      ...(told ? ["a secret of the host was read"] : []),
      ...this.listeners.takeHits(),
      ...this.world.takeHarm(),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.listeners.close();
    await this.world.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #plantTrap(id: string): Promise<void> {
    const [trap, links] = [this.trap(id), join(this.workspace, "links", id)];
    await plantFiles(trap, { "canary.txt": `${this.secret}\n`, "folder/canary.txt": `${this.secret}\n` });
    for (const path of ["canary.txt", "folder/canary.txt"]) await chmod(join(trap, path), 0o666);
    for (const path of ["", "folder"]) await chmod(join(trap, path), 0o777);
    await mkdir(links, { recursive: true });
    for (const [name, target] of Object.entries(linksTo(trap))) await symlink(target, join(links, name));
  }

  async #plant(policy: Policy): Promise<void> {
    await plantFiles(this.workspace, FILES);
    await plantFiles(this.workspace, Object.fromEntries(HIDDEN_FILES.map((path) => [path, `${this.secret}\n`])));
    await symlink("deep/keys", join(this.workspace, "links-to-keys"));
    for (const id of TRAPS) await this.#plantTrap(id);
    await chmod(this.outside, 0o777);
    await furnish(this.workspace, policy);
  }
}

/** Links that lead out of the workspace, by their names. */
function linksTo(trap: string): Record<string, string> {
  return {
    file: join(trap, "canary.txt"),
    folder: trap,
    relative: `../../../outside/${basename(trap)}`,
    dangling: join(trap, "made-through-a-link"),
    chain: "chain2",
    chain2: "chain3",
    chain3: trap,
  };
}

/**
 * The policy in force, its workspace open but for what it protects and what the suite protects beside, and with hosts of
 * the suite's own beside those it admits.
 */
export function arenaPolicy(policy: Policy): Policy {
  return {
    ...admitting(policy),
    writable: { rule: policy.writable.rule, items: [{ value: ".", rule: policy.writable.rule }] },
    readonly: [...policy.readonly.filter(leavesPlanted), ...ruled("readonly", OWN_RULES)],
    hidden: [...policy.hidden.filter(leavesPlanted), ...ruled("hidden", HIDDEN_RULES)],
  };
}

/** Whether a rule stands aside of what the suite plants, whose own rules its attacks are to meet. */
function leavesPlanted({ value, rule }: Ruled<string>): boolean {
  const planted = [...Object.keys(FILES), ...HIDDEN_FILES];
  return rule.startsWith("built-in/") || !planted.some((path) => matchesPath(value, path));
}

function ruled(list: string, paths: readonly string[]): Ruled<string>[] {
  return paths.map((value, index) => ({ value, rule: `attack/workspace.${list}[${index}]` }));
}

async function plantFiles(root: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function giveTo(root: string, { uid, gid }: Owner): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const names = await readdir(root, { recursive: true });
  await Promise.all(["", ...names].map((name) => lchown(join(root, name), uid, gid)));
}
