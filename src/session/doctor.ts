import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT, GloveboxError, toGloveboxError } from "../core/errors.ts";
import { shortId, uuidv7 } from "../core/ids.ts";
import { VERSION } from "../core/version.ts";
import { chooseModel, MODEL_KEYS } from "../model/choose.ts";
import { BUILT_IN_POLICY } from "../policy/policy.ts";
import { connectEngine, type Engine } from "../sandbox/engine/engine.ts";
import { findImages } from "../sandbox/images/images.ts";
import { planMounts } from "../workspace/plan-mounts.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { dockerProvider } from "./docker-provider.ts";
import { withoutSession } from "./guarding.ts";
import { workspaceId } from "./home.ts";
import { containerChoices } from "./policy-use.ts";
import type { Surroundings } from "./surroundings.ts";

/** One thing that was looked at. `hint` says what to do about anything but `ok`. */
export type Finding = {
  subject: string;
  status: "ok" | "warning" | "problem";
  detail: string;
  hint: string | null;
};

export type Examination = {
  findings: Finding[];
  /** 0, 5 without a usable sandbox, 2 for what is wrong with this machine's setup. */
  exitCode: number;
};

type Options = { onProgress: (words: string) => void; signal: AbortSignal };

/** Looks at all that a run needs, a real sandbox in an empty folder included. Builds nothing, leaves nothing behind. */
export async function examine(surroundings: Surroundings, options: Options): Promise<Examination> {
  const setup = [nodeVersion(), await homeFolder(surroundings)];
  const sandbox = await examineSandbox(surroundings, options);
  const findings = [...setup, ...sandbox, await model(surroundings)];
  return { findings, exitCode: exitCodeOf(setup, sandbox) };
}

function exitCodeOf(setup: readonly Finding[], sandbox: readonly Finding[]): number {
  const isBad = ({ status }: Finding): boolean => status === "problem";
  if (sandbox.some(isBad)) return EXIT.sandbox;
  return setup.some(isBad) ? EXIT.usage : EXIT.completed;
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return fine("node", process.version);
  return problem(
    "node",
    new GloveboxError("CONFIG_INVALID", `${process.version} is too old`, { hint: "Install Node 20.19 or later" }),
  );
}

async function homeFolder({ home }: Surroundings): Promise<Finding> {
  const probe = join(home.root, `.probe-${shortId()}`);
  try {
    await mkdir(home.root, { recursive: true, mode: 0o700 });
    await writeFile(probe, "", { mode: 0o600, flag: "wx" });
    await rm(probe);
    return fine("glovebox home", home.root);
  } catch (error) {
    const hint = "Make the folder writable for you, or name another one in `GLOVEBOX_HOME`";
    const { message } = toGloveboxError(error);
    return { subject: "glovebox home", status: "problem", detail: `${home.root} cannot be written: ${message}`, hint };
  }
}

async function examineSandbox(surroundings: Surroundings, options: Options): Promise<Finding[]> {
  const { env, userHome } = surroundings;
  try {
    const engine = await connectEngine({ env, home: userHome, uid: process.getuid?.() });
    const images = await examineImages(engine, surroundings);
    const canStart = images.every(({ status }) => status !== "problem");
    return [engineFinding(engine), ...images, ...(canStart ? await tryOut(surroundings, options) : [])];
  } catch (error) {
    return [problem("engine", error)];
  }
}

function engineFinding(engine: Engine): Finding {
  const facts = [
    `${engine.isPodman ? "Podman" : "Docker"} ${engine.version} (API ${engine.apiVersion}) at ${engine.endpoint}`,
    engine.isRootless ? "rootless" : "not rootless",
    `cgroup v${engine.cgroupVersion}`,
    engine.architecture,
  ];
  return fine("engine", facts.join(", "));
}

async function examineImages(engine: Engine, { packageRoot, home }: Surroundings): Promise<Finding[]> {
  try {
    const found = await findImages(engine, { packageRoot, cacheDir: home.cache, version: VERSION });
    return [
      found.base ? fine("base image", found.base.ref) : unbuilt("base image"),
      found.runtime ? fine("runtime volume", found.runtime.volume) : unbuilt("runtime volume"),
    ];
  } catch (error) {
    return [problem("images", error)];
  }
}

function unbuilt(subject: string): Finding {
  const hint = "`glovebox image build`; a run builds it by itself, too";
  return { subject, status: "problem", detail: "has not been built", hint };
}

async function tryOut(surroundings: Surroundings, options: Options): Promise<Finding[]> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "glovebox-doctor-"));
  try {
    return await openAndClose(folder, surroundings, options);
  } catch (error) {
    return [problem("sandbox", error)];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function openAndClose(folder: string, surroundings: Surroundings, options: Options): Promise<Finding[]> {
  const { env, userHome, packageRoot, home, secrets } = surroundings;
  const reaped: string[] = [];
  const provide = dockerProvider({
    ...{ env, userHome, packageRoot, cacheDir: home.cache, version: VERSION },
    ...{ ...containerChoices(BUILT_IN_POLICY, env), build: false, onProgress: options.onProgress },
    onReaped: ({ removed }) => reaped.push(...removed.map(({ kind, name }) => `${kind} ${name}`)),
  });
  const workspace = await openWorkspace(folder, { userHome, gloveboxHome: home.root });
  const plan = await planMounts(workspace.root, BUILT_IN_POLICY);
  const sandbox = await provide({
    ...withoutSession({ root: workspace.root, plan, hardlinks: BUILT_IN_POLICY.hardlinks }),
    sessionId: uuidv7(),
    workspaceId: workspaceId(workspace.root),
    workspace,
    plan,
    limits: BUILT_IN_POLICY.limits,
    secretHashes: secrets.hashes(),
    emit: () => Promise.resolve(),
    signal: options.signal,
  });
  const { degraded, controls } = sandbox.facts;
  await sandbox.close();
  return [
    fine("sandbox", "opened, and removed again"),
    ...controls.map(({ control, evidence }) => fine(`  ${control}`, evidence)),
    ...degraded.map((words): Finding => ({ subject: "sandbox", status: "warning", detail: words, hint: null })),
    ...reaped.map((words) => fine("leftovers", `removed ${words}`)),
  ];
}

/** A missing model is no fault of the machine: `--model scripted:FILE` needs none. */
async function model({ env, secrets, cwd }: Surroundings): Promise<Finding> {
  const keys = MODEL_KEYS.filter((name) => secrets.get(name) !== undefined);
  const set = [...keys, ...(env["OPENAI_BASE_URL"] ? ["OPENAI_BASE_URL"] : [])];
  try {
    const { provider, id } = await chooseModel({ env, secrets, cwd });
    return fine("model", `${provider}: ${id} (${set.join(", ")} set)`);
  } catch (thrown) {
    return { ...problem("model", thrown), status: "warning" };
  }
}

function fine(subject: string, detail: string): Finding {
  return { subject, status: "ok", detail, hint: null };
}

function problem(subject: string, thrown: unknown): Finding {
  const { message, hint } = toGloveboxError(thrown);
  return { subject, status: "problem", detail: message, hint: hint ?? null };
}
