import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pack } from "tar-fs";
import { GloveboxError } from "../../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import { orMissing } from "../engine/status.ts";
import { ownerLabel } from "../owner.ts";
import { RUNTIME_ROOT } from "../places.ts";
import { type BuildContext, builderLabel, labelsOf, withScratch } from "./build.ts";
import { type ImageInputs, type ImagePlan, requireBundle } from "./plan.ts";
import { COMPLETE_FILE, RUNTIME_PATHS } from "./runtime-paths.ts";
import { inspectVolume, noteVolume } from "./runtime-volume.ts";

/** Looks into the volume for the file that is written last, and notes it; `image` is any that the engine has. */
export async function checkVolume(engine: Engine, inputs: ImageInputs, name: string, image: string): Promise<boolean> {
  if (!(await inspectVolume(engine, name))) return false;
  const container = await mountedIn(engine, inputs, name, { image, readOnly: true });
  try {
    if (!(await hasFile(container, `${RUNTIME_ROOT}/${COMPLETE_FILE}`))) return false;
  } finally {
    await container.remove({ force: true });
  }
  await noteVolume(engine, inputs, name);
  return true;
}

/** Makes the volume from the runtime image and the bundle; a half-filled one of the same name is removed first. */
export async function fillVolume(plan: ImagePlan, context: BuildContext): Promise<void> {
  const { engine, inputs, signal } = context;
  const name = plan.volume;
  await removeVolume(engine, name);
  await engine.docker.createVolume({ Name: name, Labels: labelsOf(inputs, "runtime") });
  signal?.throwIfAborted();
  // The engine copies the image's files into an empty volume when it makes the container.
  const container = await mountedIn(engine, inputs, name, { image: plan.runtimeRef, readOnly: false });
  try {
    if (!(await hasFile(container, RUNTIME_PATHS.nodePath))) await runOnce(container);
    await putBundle(container, plan, context);
  } finally {
    await container.remove({ force: true });
  }
  await noteVolume(engine, inputs, name);
}

async function hasFile(container: MountedContainer, path: string): Promise<boolean> {
  const answer: NodeJS.ReadableStream | undefined = await orMissing(container.infoArchive({ path }));
  // An answer that is not read keeps its connection, and this process, for minutes.
  answer?.resume();
  return answer !== undefined;
}

/** Podman copies when a container first starts. */
async function runOnce(container: MountedContainer): Promise<void> {
  await container.start();
  await container.stop({ t: 1 });
}

async function putBundle(container: MountedContainer, plan: ImagePlan, context: BuildContext): Promise<void> {
  const bundle = requireBundle(plan);
  await withScratch(context, async (folder) => {
    const bundleName = RUNTIME_PATHS.bundlePath.slice(RUNTIME_ROOT.length + 1);
    await mkdir(dirname(join(folder, bundleName)));
    await writeFile(join(folder, bundleName), bundle);
    await writeFile(join(folder, COMPLETE_FILE), plan.volume);
    // In this order: the engine unpacks one after the other.
    const entries = [bundleName, COMPLETE_FILE];
    const files = pack(folder, { entries, map: (header) => ({ ...header, mode: 0o444, uid: 0, gid: 0 }) });
    await container.putArchive(files, { path: RUNTIME_ROOT });
  });
}

type MountedContainer = Awaited<ReturnType<typeof mountedIn>>;

/** A container that is never started but has the volume at its place; carries the builder's label until removed. */
async function mountedIn(
  engine: Engine,
  inputs: ImageInputs,
  volume: string,
  how: { image: string; readOnly: boolean },
) {
  return await engine.docker.createContainer({
    Image: how.image,
    Entrypoint: [RUNTIME_PATHS.idlePath],
    Labels: { ...labelsOf(inputs, "build"), ...builderLabel(inputs), ...(await ownerLabel()) },
    NetworkDisabled: true,
    HostConfig: {
      NetworkMode: "none",
      Mounts: [
        {
          Type: "volume",
          Source: volume,
          Target: RUNTIME_ROOT,
          ReadOnly: how.readOnly,
          ...(how.readOnly && { VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: "", Options: {} } } }),
        },
      ],
    },
  });
}

async function removeVolume(engine: Engine, name: string): Promise<void> {
  try {
    await orMissing(engine.docker.getVolume(name).remove());
  } catch (cause) {
    throw new GloveboxError(
      "ENGINE_FAILED",
      `The unfinished volume \`${name}\` cannot be removed, a container uses it`,
      {
        hint: `Remove the containers that \`docker ps -a --filter volume=${name}\` lists, then try again`,
        cause,
      },
    );
  }
}
