import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Outcome } from "../../../src/protocol/messages.ts";
import { PROTOCOL_VERSION } from "../../../src/protocol/messages.ts";
import type { CallContext, Host } from "../../../src/toolhost/context.ts";
import { failureOutcome } from "../../../src/toolhost/outcomes.ts";
import { programPath } from "../../support/programs.ts";

const NOBODY = 65_534;

/**
 * Acts without root's rights over files: as nobody, who is given the workspace, when the tests run as root. The whole
 * process changes, so nothing else may run meanwhile.
 */
export async function withoutRoot<T>(workspace: Workspace, act: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return act();
  execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, workspace.base]);
  process.setegid?.(NOBODY);
  process.seteuid?.(NOBODY);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}

/** A temporary workspace and the context of a call in it, as the tool host's dispatcher makes one. */
export class Workspace {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-tools-")));
  readonly root = join(this.base, "workspace");
  readonly home = join(this.base, "home");
  readonly host: Host;
  readonly abort = new AbortController();

  constructor() {
    mkdirSync(this.root);
    mkdirSync(this.home);
    this.host = {
      hello: { ...HELLO, root: this.root, home: this.home, state: join(this.base, "state") },
      seen: new Map(),
      guard: { refuse: () => undefined },
    };
  }

  get context(): CallContext {
    return { host: this.host, id: 1, signal: this.abort.signal, show: () => undefined };
  }

  path(name: string): string {
    return join(this.root, name);
  }

  async put(name: string, content: string | Buffer): Promise<string> {
    const path = this.path(name);
    mkdirSync(join(path, ".."), { recursive: true });
    await writeFile(path, content);
    return path;
  }

  /** The bytes of a file as latin1, so that every one of them is compared. */
  async bytes(name: string): Promise<string> {
    return (await readFile(this.path(name))).toString("latin1");
  }

  /** Temporary files of ours left in a directory. */
  async leftovers(folder = "."): Promise<string[]> {
    return (await readdir(this.path(folder))).filter((name) => name.endsWith(".tmp"));
  }

  /** Runs a handler as the dispatcher does: what it throws becomes an outcome. */
  async call<Args extends { path?: string | undefined }>(
    handler: (args: Args, context: CallContext) => Promise<Outcome>,
    args: Args,
  ): Promise<Outcome> {
    try {
      return await handler(args, this.context);
    } catch (error) {
      return failureOutcome(error, args.path, this.host.hello);
    }
  }

  remove(): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

const HELLO = {
  type: "hello" as const,
  protocol: PROTOCOL_VERSION,
  env: {},
  umask: 0o022,
  programs: { rg: programPath("rg"), terminal: "", shell: programPath("bash"), shellKind: "bash" as const },
  readonly: [],
  hidden: [],
  session: "s",
  mounts: [],
  guarded: [],
  maxOutputFileBytes: 1024 * 1024,
  shownOutputBytes: 50 * 1024,
  idleSeconds: 60,
};

/** A memory of files that acts when `edit` looks into it, which is between its reading of a file and its writing. */
export function whenRead(act: () => void): Host["seen"] {
  return new (class extends Map<string, string> {
    override get(path: string): string | undefined {
      act();
      return super.get(path);
    }
  })();
}

/** The text of an outcome. */
export function text(outcome: Outcome): string {
  return outcome.content.map((part) => (part.type === "text" ? part.text : `<${part.mime}>`)).join("");
}
