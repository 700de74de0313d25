import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT, GloveboxError, toGloveboxError } from "../core/errors.ts";
import { shortId } from "../core/ids.ts";
import { VERSION } from "../core/version.ts";
import { chooseModel, MODEL_KEYS } from "../model/choose.ts";
import { droppedWords } from "../policy/dropped.ts";
import { BUILT_IN_POLICY, type Policy } from "../policy/policy.ts";
import { connectEngine, type Engine } from "../sandbox/engine/engine.ts";
import { runcVersion, runcWarning } from "../sandbox/engine/runc.ts";
import { ensureImages } from "../sandbox/images/images.ts";
import type { Reaped } from "../sandbox/reaper.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { furnish } from "./furnish.ts";
import { openPlainSandbox } from "./plain-sandbox.ts";
import type { PolicyRequest } from "./policy.ts";
import { policyHere } from "./policy-here.ts";
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

/** Policy and image as of a run in the current folder. */
type Options = Pick<PolicyRequest, "policy" | "image"> & { onProgress: (words: string) => void; signal: AbortSignal };

/**
 * Looks at all that a run in the current folder needs, a real sandbox in a scratch folder included. Builds nothing,
 * leaves nothing behind.
 */
export async function examine(surroundings: Surroundings, options: Options): Promise<Examination> {
  const rules = await examinePolicy(surroundings, options);
  const setup = [nodeVersion(), await homeFolder(surroundings), ...rules.findings];
  const sandbox = await examineSandbox(surroundings, rules.policy, options);
  const findings = [...setup, ...sandbox, await model(surroundings)];
  return { findings, exitCode: exitCodeOf(setup, sandbox) };
}

/** Without a policy that can be read, the built-in one shows what engine and images are worth. */
async function examinePolicy(
  surroundings: Surroundings,
  options: Options,
): Promise<{ findings: Finding[]; policy: Policy }> {
  try {
    const { policy, facts } = await policyHere(options, surroundings);
    const files = facts.sources.map(({ layer, file }) => `${layer}: ${file}`).join(", ");
    const dropped = facts.dropped.map(
      (item): Finding => ({
        subject: "policy",
        status: "warning",
        detail: `dropped ${droppedWords(item)}`,
        hint: null,
      }),
    );
    return { findings: [fine("policy", files || "built-in"), ...dropped], policy };
  } catch (error) {
    return { findings: [problem("policy", error)], policy: BUILT_IN_POLICY };
  }
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

async function examineSandbox(surroundings: Surroundings, policy: Policy, options: Options): Promise<Finding[]> {
  const { env, userHome } = surroundings;
  try {
    const engine = await connectEngine({ env, home: userHome, uid: process.getuid?.() });
    const images = await examineImages(engine, surroundings);
    const canStart = images.every(({ status }) => status !== "problem");
    const engineFindings = [engineFinding(engine), ...(await runcFindings(engine))];
    return [...engineFindings, ...images, ...(canStart ? await tryOut(surroundings, policy, options) : [])];
  } catch (error) {
    return [problem("engine", error)];
  }
}

/** No error: distributions mend an old release under its old number. */
async function runcFindings({ docker }: Engine): Promise<Finding[]> {
  const version = await runcVersion(docker);
  const warning = version === undefined ? undefined : runcWarning(version);
  if (warning === undefined) return [];
  return [{ subject: "engine", status: "warning", detail: warning, hint: "Update runc, or read its changelog" }];
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

async function examineImages(engine: Engine, { env, packageRoot, home }: Surroundings): Promise<Finding[]> {
  try {
    const inputs = { packageRoot, cacheDir: home.cache, version: VERSION };
    const { base, runtime } = await ensureImages(engine, inputs, { env, build: false });
    return [fine("base image", base.ref), fine("runtime volume", runtime.volume)];
  } catch (error) {
    return [problem("images", error)];
  }
}

async function tryOut(surroundings: Surroundings, policy: Policy, options: Options): Promise<Finding[]> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "glovebox-doctor-"));
  try {
    await furnish(folder, policy);
    return await openAndClose(folder, { surroundings, policy, options });
  } catch (error) {
    return [problem("sandbox", error)];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Trial = { surroundings: Surroundings; policy: Policy; options: Options };

async function openAndClose(folder: string, { surroundings, policy, options }: Trial): Promise<Finding[]> {
  const { userHome, home } = surroundings;
  const reaped: string[] = [];
  const workspace = await openWorkspace(folder, { userHome, gloveboxHome: home.root });
  const onReaped = ({ removed }: Reaped): unknown => reaped.push(...removed.map(({ kind, name }) => `${kind} ${name}`));
  const { sandbox } = await openPlainSandbox({ ...options, workspace, policy, build: false, onReaped }, surroundings);
  const { degraded, notes, controls, image } = sandbox.facts;
  await sandbox.close();
  return [
    fine("sandbox", `opened with ${image}, and removed again`),
    ...controls.map(({ control, evidence }) => fine(`  ${control}`, evidence)),
    ...degraded.map((words): Finding => ({ subject: "sandbox", status: "warning", detail: words, hint: null })),
    ...notes.map((words) => fine("limits", words)),
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
