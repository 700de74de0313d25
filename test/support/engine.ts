import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { uuidv7 } from "../../src/core/ids.ts";
import { CLOSED_OUTLET } from "../../src/core/outlet.ts";
import { VERSION } from "../../src/core/version.ts";
import { BUILT_IN_POLICY, type Policy, type PolicyLimits } from "../../src/policy/policy.ts";
import { connectEngine, type Engine } from "../../src/sandbox/engine/engine.ts";
import type { Sandbox, SandboxEvent } from "../../src/sandbox/sandbox.ts";
import { dockerProvider, type Opened as Made } from "../../src/session/docker-provider.ts";
import { withoutSession } from "../../src/session/guarding.ts";
import { homeOf, workspaceId } from "../../src/session/home.ts";
import type { SandboxProvider, SandboxRequest } from "../../src/session/provider.ts";
import { planMounts } from "../../src/workspace/plan-mounts.ts";
import { openWorkspace } from "../../src/workspace/workspace.ts";

export const packageRoot = join(import.meta.dirname, "../..");
export const cliPath = join(packageRoot, "dist/bin/glovebox.mjs");

export function connect(env: NodeJS.ProcessEnv = process.env): Promise<Engine> {
  return connectEngine({ env, home: homedir(), uid: process.getuid?.() });
}

export type OpenOptions = {
  /** Called for each event, after it has been noted. */
  emit?: () => Promise<void>;
  env?: NodeJS.ProcessEnv;
  image?: string;
  limits?: Partial<PolicyLimits>;
  secretHashes?: string[];
  /** More paths that are read-only or hidden. */
  protect?: { readonly?: string[]; hidden?: string[] };
  /** What a session would do otherwise. */
  request?: Partial<SandboxRequest>;
  sandbox?: Policy["sandbox"];
  /** Told what the sandbox was made from. */
  onOpened?: (made: Made) => void;
};

/** A sandbox that closes when the test is over, and what it reported. */
export type Opened = AsyncDisposable & { sandbox: Sandbox; events: SandboxEvent[] };

/** Opens real sandboxes on the engine of this machine. */
export function providerFor(options: OpenOptions = {}): SandboxProvider {
  return dockerProvider({
    env: options.env ?? process.env,
    userHome: homedir(),
    packageRoot,
    cacheDir: homeOf(process.env, homedir()).cache,
    version: VERSION,
    image: options.image,
    build: true,
    commandEnv: {},
    sandbox: options.sandbox ?? BUILT_IN_POLICY.sandbox,
    onProgress: () => undefined,
    onReaped: () => undefined,
    ...(options.onOpened && { onOpened: options.onOpened }),
  });
}

/** A real sandbox on the engine of this machine, as a session opens it. */
export async function openSandbox(root: string, options: OpenOptions = {}): Promise<Opened> {
  const workspace = await openWorkspace(root, {
    userHome: homedir(),
    gloveboxHome: homeOf(process.env, homedir()).root,
  });
  const events: SandboxEvent[] = [];
  const open = providerFor(options);
  const plan = await planMounts(workspace.root, {
    writable: BUILT_IN_POLICY.writable,
    readonly: [...BUILT_IN_POLICY.readonly, ...ruled("readonly", options.protect?.readonly)],
    hidden: ruled("hidden", options.protect?.hidden),
  });
  const sandbox = await open({
    outlet: CLOSED_OUTLET,
    ...withoutSession({ root: workspace.root, plan, hardlinks: BUILT_IN_POLICY.hardlinks }),
    protectLinks: "before_writing",
    ...options.request,
    sessionId: uuidv7(),
    workspaceId: workspaceId(workspace.root),
    workspace,
    plan,
    limits: { ...BUILT_IN_POLICY.limits, ...options.limits },
    rules: BUILT_IN_POLICY.origins,
    secretHashes: options.secretHashes ?? [],
    emit: (event) => {
      events.push(event);
      return options.emit?.() ?? Promise.resolve();
    },
    signal: new AbortController().signal,
  });
  return { sandbox, events, [Symbol.asyncDispose]: () => sandbox.close() };
}

function ruled(list: string, paths: readonly string[] = []) {
  return paths.map((value, index) => ({ value, rule: `user/workspace.${list}[${index}]` }));
}

/** A folder for one test: a workspace in it, and a home of glovebox's that shares only the images' cache. */
export class Place implements AsyncDisposable {
  readonly folder: string;
  readonly root: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.root = join(folder, "repo");
  }

  /** `forEveryone`: another user may work there. */
  static async create(parent = tmpdir(), { forEveryone = false } = {}): Promise<Place> {
    const place = new Place(await mkdtemp(join(parent, "glovebox-e2e-")));
    await mkdir(place.root);
    if (forEveryone) await Promise.all([place.folder, place.root].map((folder) => chmod(folder, 0o777)));
    return place;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

export type Ended = { code: number; stdout: string; stderr: string };
export type CliOptions = {
  cwd?: string;
  env?: Record<string, string | undefined>;
  input?: string;
  /** A stdin that nobody writes to and nobody closes. */
  keepStdinOpen?: boolean;
  signal?: AbortSignal;
  /** Another user to run as. */
  user?: { uid: number; gid: number };
};

/** The group that may speak to the engine. */
export async function engineGroup(): Promise<number> {
  const { endpoint } = await connect();
  return (await stat(endpoint.replace(/^unix:\/\//, ""))).gid;
}

/** A started command line, as a user would start it, with a clean environment. */
export function startCli(args: readonly string[], options: CliOptions = {}) {
  return startProgram(process.execPath, [cliPath, ...args], options);
}

/** A program that runs the command line, in the same environment. */
export function startProgram(
  program: string,
  args: readonly string[],
  { cwd, env = {}, input, keepStdinOpen = false, user }: CliOptions = {},
) {
  const child = spawn(program, args, {
    cwd: cwd ?? tmpdir(),
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      DOCKER_HOST: process.env["DOCKER_HOST"],
      ...env,
    } as NodeJS.ProcessEnv,
    ...user,
    stdio: [input === undefined && !keepStdinOpen ? "ignore" : "pipe", "pipe", "pipe"],
  });
  if (input !== undefined) child.stdin?.end(input);
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? (signal ? -1 : 0), stdout, stderr }));
  });
  return { child, ended, stderr: () => stderr, stdout: () => stdout };
}

export function cli(args: readonly string[], options: CliOptions = {}): Promise<Ended> {
  return startCli(args, options).ended;
}

/** A place with these files, by path, in its workspace. */
export async function placeWith(files: Record<string, string>): Promise<Place> {
  const place = await Place.create();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(place.root, path, ".."), { recursive: true });
    await writeFile(join(place.root, path), text);
  }
  return place;
}
