import { GloveboxError, toGloveboxError } from "../core/errors.ts";
import { BUILT_IN_POLICY, type Policy } from "../policy/policy.ts";
import type { BoxPlan } from "../sandbox/box.ts";
import { pidsLimit } from "../sandbox/container-spec.ts";
import { openDockerSandbox } from "../sandbox/docker-sandbox.ts";
import { connectEngine, type Engine } from "../sandbox/engine/engine.ts";
import { commandEnvironment } from "../sandbox/environment.ts";
import { identityFiles, type User } from "../sandbox/identity.ts";
import { imageContents, requireShell } from "../sandbox/image-contents.ts";
import { planImageVolumes } from "../sandbox/image-volumes.ts";
import type { ImageProgress } from "../sandbox/images/build.ts";
import { ensureImages, type ImageSet } from "../sandbox/images/images.ts";
import { type ImageDetails, inspectImage } from "../sandbox/images/inspect.ts";
import { keptFile } from "../sandbox/kept-file.ts";
import { LABELS } from "../sandbox/labels.ts";
import { currentOwner } from "../sandbox/owner.ts";
import { HOME, STATE_DIR } from "../sandbox/places.ts";
import { type Reaped, reap } from "../sandbox/reaper.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { seccompOption } from "../sandbox/seccomp/option.ts";
import { userInside } from "../sandbox/user.ts";
import { type MountPlan, wholeWorkspace } from "../workspace/mount-plan.ts";
import { folderState, identityOf } from "../workspace/same-folder.ts";
import { fitLimits } from "./fit-limits.ts";
import type { SandboxProvider, SandboxRequest } from "./provider.ts";

export type DockerProviderOptions = {
  /** Where engine and package managers are looked for; secrets taken out. */
  env: NodeJS.ProcessEnv;
  userHome: string;
  /** Holds `images/` and `dist/`. */
  packageRoot: string;
  cacheDir: string;
  version: string;
  /** The image to work in; our base image when omitted. */
  image: string | undefined;
  sandbox: Policy["sandbox"];
  /** Build what is missing of ours. */
  build: boolean;
  /** Set in the environment of commands, over the image's. */
  commandEnv: Record<string, string>;
  /** Set where the image does not; none when omitted. */
  commandDefaults?: Record<string, string>;
  /** What takes long, in words. */
  onProgress: (words: string) => void;
  /** What an earlier session had left and was removed at this start. */
  onReaped: (reaped: Reaped) => void;
  /** What a sandbox was made from, for a command that runs beside its tool host. */
  onOpened?: (opened: Opened) => void;
};

export type Opened = { engine: Engine; plan: BoxPlan };

/** Seconds without a frame after which a tool host ends itself: six of the controller's pings. */
const IDLE_SECONDS = 30;
/** The most one command's output file may hold of the container's memory. */
const MAX_OUTPUT_FILE_BYTES = 64 * 1024 * 1024;

/** Makes sandboxes on the container engine of this machine's user. */
export function dockerProvider(options: DockerProviderOptions): SandboxProvider {
  return async (request) => {
    const engine = await connectEngine({ env: options.env, home: options.userHome, uid: process.getuid?.() });
    const reaping = reap(engine.docker);
    // Awaited below; a failure on the way there must not count as unhandled.
    reaping.catch(() => undefined);
    const sandbox = await open(engine, options, request);
    const reaped = await reaping.catch(
      (error: unknown): Reaped => ({ removed: [], problems: [toGloveboxError(error).message] }),
    );
    if (reaped.removed.length + reaped.problems.length > 0) options.onReaped(reaped);
    return sandbox;
  };
}

async function open(engine: Engine, options: DockerProviderOptions, asked: SandboxRequest): Promise<Sandbox> {
  const { limits, notes } = fitLimits(asked.limits, asked.rules, engine);
  const request = { ...asked, limits };
  const found = await findImage(engine, options, request.signal);
  const { image } = found;
  const requireSameFolder = await sameFolder(request.workspace.root);
  const prepared = await prepare(engine, options, request, found);
  const facts = { ref: image.ref, digest: image.digest ?? image.id };
  request.signal.throwIfAborted();
  options.onOpened?.({ engine, plan: prepared.plan });
  return openDockerSandbox({
    engine,
    plan: prepared.plan,
    replan: async (linked) => {
      await requireSameFolder();
      return withMounts(prepared.plan, await request.replan(linked));
    },
    protectLinks: request.protectLinks,
    appeared: request.appeared,
    host: { keep: request.keep, outlet: request.outlet },
    facts: {
      image: facts.ref,
      imageDigest: facts.digest,
      ...prepared.user,
      degraded: degradations(engine, prepared.user, prepared.refusedEnv),
      isWeakened: engine.hasSelinux,
      notes,
    },
    emit: (event) => request.emit(event, facts),
  });
}

/** Whether the folder at `root` is still the one that is there now; never asked while a container has it. */
async function sameFolder(root: string): Promise<() => Promise<void>> {
  const { dev, ino } = await identityOf(root);
  return async () => {
    const state = await folderState(root, { dev, ino });
    if (state === "same") return;
    const what = state === "another" ? "is not the folder it was" : "is no longer there";
    throw new GloveboxError("WORKSPACE_REFUSED", `Workspace \`${root}\` ${what}`);
  };
}

/** A container with a tool host that is there to move files out of a workspace or back, and for nothing else. */
export type Porter = { engine: Engine; plan: BoxPlan };

export type PorterRequest = Pick<SandboxRequest, "sessionId" | "workspaceId" | "workspace" | "signal">;

/** What {@link inBox} needs for a workspace, all of which it can write. Removes first what dead sessions left running. */
export async function preparePorter(options: DockerProviderOptions, request: PorterRequest): Promise<Porter> {
  const engine = await connectEngine({ env: options.env, home: options.userHome, uid: process.getuid?.() });
  const reaped = await reap(engine.docker);
  if (reaped.removed.length + reaped.problems.length > 0) options.onReaped(reaped);
  const found = await findImage(engine, options, request.signal);
  const { root } = request.workspace;
  const plan = wholeWorkspace(root);
  const { limits } = fitLimits(BUILT_IN_POLICY.limits, BUILT_IN_POLICY.origins, engine);
  return { engine, plan: (await prepare(engine, options, { ...request, plan, limits, secretHashes: [] }, found)).plan };
}

/** Progress of a build or a pull as one line. */
export function progressWords({ step, line }: ImageProgress): string {
  return line ? `${step}: ${line}` : step;
}

type Found = ImageSet & { image: ImageDetails };

async function findImage(engine: Engine, options: DockerProviderOptions, signal: AbortSignal): Promise<Found> {
  const onProgress = (event: ImageProgress): void => options.onProgress(progressWords(event));
  const { packageRoot, cacheDir, version, env, build } = options;
  const { base, runtime } = await ensureImages(
    engine,
    { packageRoot, cacheDir, version },
    { env, build, onProgress, signal },
  );
  return { base, runtime, image: await inspectImage(engine, options.image ?? base.ref, { onProgress, signal }) };
}

type Preparation = PorterRequest & Pick<SandboxRequest, "plan" | "limits" | "secretHashes">;
type Prepared = { plan: BoxPlan; user: User; refusedEnv: string[] };

async function prepare(
  engine: Engine,
  options: DockerProviderOptions,
  request: Preparation,
  { base, runtime, image }: Found,
): Promise<Prepared> {
  const { cacheDir, version } = options;
  const { workspace, plan, limits } = request;
  // Before a container of the image is made: the engine would fill each of its volumes.
  const volumePaths = planImageVolumes(image, plan.mounts);
  const [contents, owner, user] = await Promise.all([
    imageContents(engine.docker, image.id, version, cacheDir),
    currentOwner(),
    userInside(engine, invokingUser(workspace), {
      imageId: base.id,
      runtimeVolume: runtime.volume,
      version,
      cacheDir,
    }),
  ]);
  const shell = requireShell(contents, image.ref);
  const { env, refused } = commandEnvironment(
    [...Object.entries(options.commandDefaults ?? {}).map(([name, value]) => `${name}=${value}`), ...image.env],
    options.commandEnv,
  );
  const bare: BoxPlan = {
    prefix: `glovebox-${request.sessionId.slice(-12)}`,
    volumePaths,
    spec: {
      labels: {
        [LABELS.version]: version,
        [LABELS.kind]: "session",
        [LABELS.session]: request.sessionId,
        [LABELS.owner]: JSON.stringify(owner),
        [LABELS.workspace]: request.workspaceId,
      },
      imageId: image.id,
      imageEnv: image.env,
      user,
      mounts: [],
      covers: [],
      emptyFile: await keptFile("", cacheDir),
      identity: await identityFiles(contents, user, cacheDir),
      runtimeVolume: runtime.volume,
      idlePath: runtime.idlePath,
      limits,
      seccomp: await seccompOption(engine, options.sandbox, cacheDir),
      runtime: requireRuntime(engine, options.sandbox.runtime),
      selinux: engine.hasSelinux,
      privateCgroup: !engine.isPodman || engine.cgroupVersion === 2,
    },
    hello: {
      root: workspace.root,
      home: HOME,
      state: STATE_DIR,
      env,
      umask: process.umask(),
      programs: {
        rg: runtime.rgPath,
        terminal: runtime.terminalPath,
        shell: shell.path,
        shellKind: shell.kind,
      },
      session: request.sessionId,
      readonly: [],
      hidden: [],
      guarded: [],
      mounts: [],
      maxOutputFileBytes: MAX_OUTPUT_FILE_BYTES,
      shownOutputBytes: limits.outputBytes,
      idleSeconds: IDLE_SECONDS,
    },
    expect: {
      ...user,
      pidsMax: pidsLimit(limits),
      memoryMaxBytes: limits.memoryBytes,
      readonly: [],
      writable: [HOME, "/tmp"],
      hidden: [],
      pinned: [],
      probe: runtime.probePath,
      secretHashes: [...request.secretHashes],
    },
  };
  return { user, refusedEnv: refused, plan: withMounts(bare, plan) };
}

/** The same container with the mounts of another plan. */
function withMounts({ spec, hello, expect, ...rest }: BoxPlan, plan: MountPlan): BoxPlan {
  const { mounts, covers, readonly, hidden, guarded } = plan;
  const targets = (some: readonly { target: string }[]): string[] => some.map(({ target }) => target);
  const open = mounts.filter((mount) => !mount.readOnly && mount.target !== hello.root);
  return {
    ...rest,
    spec: { ...spec, mounts, covers },
    hello: { ...hello, readonly, hidden, guarded, mounts: targets([...mounts, ...covers]) },
    expect: {
      ...expect,
      readonly: targets(mounts.filter((mount) => mount.readOnly)),
      hidden: targets(covers),
      pinned: targets(open),
    },
  };
}

function requireRuntime({ runtimes }: Engine, named: Policy["sandbox"]["runtime"]): string | undefined {
  if (!named || runtimes.includes(named.value)) return named?.value;
  throw new GloveboxError("CONFIG_INVALID", `Policy rule ${named.rule}: the engine has no runtime \`${named.value}\``, {
    hint: `It has ${runtimes.join(", ") || "none that it names"}; install the other one, or take the rule out`,
  });
}

/** Root works on other people's files as their owner: with no capability left, root could not write them. */
function invokingUser(workspace: User): User {
  const uid = process.getuid?.() ?? workspace.uid;
  const gid = process.getgid?.() ?? workspace.gid;
  return uid === 0 ? { uid: workspace.uid, gid: workspace.gid } : { uid, gid };
}

function degradations(engine: Engine, user: User, refusedEnv: readonly string[]): string[] {
  const isHostRoot = user.uid === 0 && !engine.isRootless && !engine.isRemapped;
  const root = isHostRoot ? ["commands run as root, without any capability"] : [];
  const env = refusedEnv.length > 0 ? [`the image's ${refusedEnv.join(", ")} is not set`] : [];
  const labels = engine.hasSelinux ? ["SELinux does not confine the container (label=disable)"] : [];
  return [...root, ...labels, ...env];
}
