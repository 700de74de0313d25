import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { cli, root } from "../scripts/setup.mjs";
import { output } from "./measure.mjs";

/** A module of the build, as `npm run build` has made it. */
export function fromDist(path) {
  return import(pathToFileURL(join(root, "dist", path)).href);
}

/** What every row measures with: a workspace, the engine, the base image. Removed with `remove`. */
export async function createPlace() {
  const surroundings = await surroundingsHere();
  const { buildImages } = await fromDist("session/maintenance.js");
  const idle = { onProgress: () => undefined, signal: new AbortController().signal };
  const { base } = await buildImages(surroundings, idle);
  const { connectEngine } = await fromDist("sandbox/engine/engine.js");
  const engine = await connectEngine({ env: process.env, home: homedir(), uid: process.getuid?.() });
  const hasDocker = isOnPath("docker");
  const folder = await mkdtemp(join(await realpath(tmpdir()), "glovebox-bench-"));
  const workspace = join(folder, "workspace");
  await mkdir(workspace);
  return {
    ...{ folder, workspace, surroundings, docker: engine.docker, image: base.ref, hasDocker },
    dockerRun: hasDocker ? () => dockerRun(base.ref) : () => createStartRemove(engine.docker, base.ref),
    baseline: hasDocker ? `docker run --rm --network none ${base.ref} true` : "create, start, wait, remove",
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function surroundingsHere() {
  const { surroundingsOf } = await fromDist("session/surroundings.js");
  const { Secrets } = await fromDist("core/secrets.js");
  return surroundingsOf(process.env, new Secrets(), { cwd: process.cwd(), userHome: homedir() });
}

/** A run of the command line with a script for a model; its result object. */
export async function scriptedRun({ folder, workspace }, items) {
  const script = join(folder, "script.yaml");
  await writeFile(script, JSON.stringify(items));
  const args = [cli, "run", "--workspace", workspace, "--model", `scripted:${script}`, "--json", "measure"];
  // A home of its own for sessions would need the images' cache, too; the sessions are removed instead.
  const result = JSON.parse(await output(process.execPath, args));
  await rm(result.session_file);
  return result;
}

/**
 * An open sandbox without a session, with more read-only paths if they are given. Files with names outside are looked for
 * when `protectLinks` says so. Connections go to `outlet`, nowhere without one.
 */
export async function openSandbox(
  { workspace, surroundings },
  { readonly = [], onOpened, protectLinks = "before_writing", outlet } = {},
) {
  const modules = [
    "policy/policy.js",
    "session/docker-provider.js",
    "workspace/plan-mounts.js",
    "workspace/workspace.js",
  ];
  const [{ BUILT_IN_POLICY }, { dockerProvider }, { planMounts }, { openWorkspace }] = await Promise.all(
    modules.map(fromDist),
  );
  const { withoutSession } = await fromDist("session/guarding.js");
  const { uuidv7 } = await fromDist("core/ids.js");
  const { CLOSED_OUTLET } = await fromDist("core/outlet.js");
  const { env, userHome, packageRoot, home } = surroundings;
  const { VERSION } = await fromDist("core/version.js");
  const provide = dockerProvider({
    ...{ env, userHome, packageRoot, cacheDir: home.cache, version: VERSION },
    ...{ image: undefined, build: false, commandEnv: {}, sandbox: BUILT_IN_POLICY.sandbox },
    ...{ onProgress: () => undefined, onReaped: () => undefined, onOpened },
  });
  const opened = await openWorkspace(workspace, { userHome, gloveboxHome: home.root });
  const plan = await planMounts(opened.root, {
    ...BUILT_IN_POLICY,
    readonly: [...BUILT_IN_POLICY.readonly, ...readonly],
  });
  return provide({
    ...withoutSession({ root: opened.root, plan, hardlinks: BUILT_IN_POLICY.hardlinks }),
    protectLinks,
    outlet: outlet ?? CLOSED_OUTLET,
    ...{ sessionId: uuidv7(), workspaceId: "bench", workspace: opened, limits: BUILT_IN_POLICY.limits },
    plan,
    secretHashes: [],
    emit: () => Promise.resolve(),
    signal: new AbortController().signal,
  });
}

/** One tool call, its result checked. */
export async function call(sandbox, tool, args) {
  const options = { signal: new AbortController().signal, onOutput: () => undefined };
  const result = await sandbox.call({ tool, args, deadlineMs: 600_000, readsOnly: tool !== "bash" }, options);
  if (result.status !== "ok") throw new Error(`${tool} was ${result.status}: ${JSON.stringify(result.content)}`);
  return result;
}

async function dockerRun(image) {
  await output("docker", ["run", "--rm", "--network", "none", image, "true"]);
}

async function createStartRemove(docker, image) {
  const container = await docker.createContainer({ Image: image, Cmd: ["true"], HostConfig: { NetworkMode: "none" } });
  const ended = container.wait({ condition: "next-exit" });
  await container.start();
  await ended;
  await container.remove({ force: true });
}

function isOnPath(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}
