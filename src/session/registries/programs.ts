import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { execa } from "execa";
import { isWithin } from "../../core/path-rules.ts";
import { clip } from "../../core/truncate.ts";
import { visibleLine } from "../../core/visible.ts";

/** What a program of this machine printed, or why there is nothing, in words that go after its name. */
export type Said = { output: string } | { problem: string };

/** The names each package manager is installed by. */
const NAMES: Record<string, readonly string[]> = {
  npm: ["npm"],
  pip: ["python3", "python"],
  cargo: ["cargo"],
  go: ["go"],
  apt: ["apt-get"],
};

const MOST_MS = 10_000;
const MOST_CHARS = 1024 * 1024;

/**
 * Runs package managers of this machine to learn how they are configured: in `/`, with PATH and HOME alone. Nothing
 * that lies in the workspace is run, wherever PATH leads: an activated environment of the project is the project's.
 */
export class Programs {
  readonly #env: NodeJS.ProcessEnv;
  /** Folders that hold programs, as they really are. */
  readonly path: readonly string[];
  /** The workspace, as it really is. */
  readonly root: string;

  private constructor(env: NodeJS.ProcessEnv, path: readonly string[], root: string) {
    this.#env = env;
    this.path = path;
    this.root = root;
  }

  /** `env` is the person's; `home` their home folder. */
  static async outside(workspace: string, env: NodeJS.ProcessEnv, home: string): Promise<Programs> {
    const root = await realpath(workspace).catch(() => workspace);
    const folders = await Promise.all(
      (env["PATH"] ?? "")
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => realpath(folder).catch(() => undefined)),
    );
    const path = folders.filter((folder) => folder !== undefined).filter((folder) => !isWithin(folder, root));
    return new Programs({ PATH: path.join(delimiter), HOME: home, LC_ALL: "C" }, path, root);
  }

  get home(): string {
    return this.#env["HOME"] ?? "/";
  }

  /** What a package manager prints; it may take ten seconds. */
  async ask(name: string, args: readonly string[], env: Record<string, string> = {}): Promise<Said> {
    const found = await this.locate(name);
    if (found === undefined) return { problem: "is not installed on this machine" };
    const child = execa(found, args, {
      cwd: "/",
      env: { ...this.#env, ...env },
      extendEnv: false,
      stdin: "ignore",
      reject: false,
      // What it starts may outlive it and hold its output open: all of them end together.
      detached: true,
      maxBuffer: MOST_CHARS,
    });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      endGroup(child.pid);
    }, MOST_MS);
    const result = await child.finally(() => clearTimeout(timer));
    if (isLate) return { problem: "has not answered within 10 s" };
    if (result.isMaxBuffer) {
      endGroup(child.pid);
      return { problem: "answers with more than 1 MiB" };
    }
    return result.exitCode === 0 ? { output: result.stdout } : { problem: failureWords(result.stderr) };
  }

  /** The program of a package manager: that of its first name which is installed. */
  async locate(name: string): Promise<string | undefined> {
    for (const program of NAMES[name] ?? []) {
      for (const folder of this.path) {
        const file = join(folder, program);
        if (await this.#isProgram(file)) return file;
      }
    }
    return undefined;
  }

  async #isProgram(file: string): Promise<boolean> {
    try {
      await access(file, constants.X_OK);
      return (await stat(file)).isFile() && !isWithin(await realpath(file), this.root);
    } catch {
      return false;
    }
  }
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // All of them have ended meanwhile.
  }
}

function failureWords(stderr: string): string {
  const line = stderr.split("\n").find((text) => text.trim() !== "") ?? "";
  return line === "" ? "fails without a word" : `fails: ${visibleLine(clip(line.trim(), 200))}`;
}
