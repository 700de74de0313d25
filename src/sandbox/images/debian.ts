import { rm } from "node:fs/promises";
import { arch } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { GloveboxError, messageOf } from "../../core/errors.ts";
import { type BuildContext, followStream, imageLabelsOf, withScratch } from "./build.ts";
import { childEnv, readAptSources } from "./host.ts";
import type { ImagePlan } from "./plan.ts";
import { hasImage, pullImage } from "./pull.ts";
import { ARCHITECTURES } from "./runtime-paths.ts";

const STEP = "Debian system";

/** An image of plain Debian to build from: the registry's, or where there is none, one that debootstrap makes. */
export async function ensureDebian(plan: ImagePlan, context: BuildContext): Promise<string> {
  const { suite, image } = plan.pins.debian;
  const own = `glovebox/debian:${suite}-${plan.architecture}`;
  for (const ref of [image, own]) {
    if (await hasImage(context.engine, ref, plan.architecture)) return ref;
  }
  context.onProgress({ step: STEP, line: `Pulling ${image}` });
  const pulled = await pullImage(context.engine, image, { ...context, step: STEP }).then(
    () => true,
    () => false,
  );
  context.signal?.throwIfAborted();
  if (pulled) return image;
  await makeDebian(own, plan, context);
  return own;
}

async function makeDebian(ref: string, plan: ImagePlan, context: BuildContext): Promise<void> {
  refuseWhereImpossible(plan);
  await ensureDebootstrap(context);
  await withScratch(context, async (scratch) => {
    // The scratch folder is closed to others, and the image's root would inherit that.
    const folder = join(scratch, "root");
    await debootstrap(folder, plan, context);
    await importFolder(folder, ref, context);
  });
}

function refuseWhereImpossible({ pins, architecture }: ImagePlan): void {
  const root = process.getuid?.() === 0;
  if (process.platform === "linux" && root && arch() === architecture) return;
  const why = root ? `this machine is ${arch()}, the engine ${architecture}` : "debootstrap needs root on Linux";
  throw new GloveboxError("IMAGE_BUILD_FAILED", `\`${pins.debian.image}\` cannot be pulled, nor made here: ${why}`, {
    hint: `Bring \`${pins.debian.image}\` into the engine with \`docker load\`, or run \`glovebox image build\` as root once`,
  });
}

async function ensureDebootstrap(context: BuildContext): Promise<void> {
  const found = await execa("debootstrap", ["--version"], { reject: false, cwd: "/" });
  if (!found.failed) return;
  try {
    await run("apt-get", ["update", "-q"], context);
    await run("apt-get", ["install", "-y", "-q", "--no-install-recommends", "debootstrap"], context);
  } catch (error) {
    context.signal?.throwIfAborted();
    throw new GloveboxError(
      "IMAGE_BUILD_FAILED",
      "No Debian image can be pulled, and debootstrap cannot be installed",
      {
        hint: "Install debootstrap, or bring `debian:bookworm-slim` into the engine with `docker load`",
        cause: error,
      },
    );
  }
}

async function debootstrap(folder: string, plan: ImagePlan, context: BuildContext): Promise<void> {
  const { suite } = plan.pins.debian;
  const mirror = (await readAptSources(suite)).find((source) => source.suite === suite)?.uri;
  const options = [
    "--variant=minbase",
    `--arch=${ARCHITECTURES[plan.architecture].debian}`,
    "--include=ca-certificates",
  ];
  const command = ["debootstrap", ...options, suite, folder, ...(mirror ? [mirror] : [])];
  try {
    await run("setpriv", [...SEALED, ...command], context);
  } catch (error) {
    context.signal?.throwIfAborted();
    throw new GloveboxError("IMAGE_BUILD_FAILED", `debootstrap of Debian ${suite} failed: ${lastLine(error)}`, {
      cause: error,
    });
  }
}

/** In namespaces of its own that die with this process: no mount of debootstrap's is left, however this ends. */
const SEALED = ["--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child"];

async function run(command: string, args: string[], { env, signal, onProgress }: BuildContext): Promise<void> {
  const variables = { ...childEnv(env), DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const child = execa(command, args, {
    cwd: "/",
    env: variables,
    extendEnv: false,
    all: true,
    stdin: "ignore",
    ...(signal && { cancelSignal: signal }),
  });
  const show = async () => {
    for await (const line of child.iterable({ from: "all" })) onProgress({ step: STEP, line: line.trim() });
  };
  await Promise.all([child, show().catch(() => undefined)]);
}

function lastLine(error: unknown): string {
  return messageOf(error).trim().split("\n").at(-1) ?? "";
}

async function importFolder(
  folder: string,
  ref: string,
  { engine, inputs, signal, onProgress }: BuildContext,
): Promise<void> {
  onProgress({ step: STEP, line: "Importing" });
  await rm(join(folder, "var/cache/apt/archives"), { recursive: true, force: true });
  const changes = Object.entries(imageLabelsOf(inputs, "debian")).map(([name, value]) => `LABEL ${name}="${value}"`);
  const [repo, tag] = ref.split(":");
  const options = { repo, tag, changes, ...(signal && { abortSignal: signal }) };
  // The system's tar: it keeps hard links, owners and special bits, which tar-fs does not.
  const tar = execa("tar", ["-C", folder, "--numeric-owner", "-c", "."], { cwd: "/", buffer: false, stdin: "ignore" });
  const stream = await engine.docker.importImage(tar.stdout, options);
  await Promise.all([tar, followStream(stream, () => undefined)]);
}
