import type { Engine } from "../engine/engine.ts";
import { orMissing } from "../engine/status.ts";
import type { ImageInputs, ImagePlan } from "./plan.ts";
import { RUNTIME_PATHS, type RuntimePaths } from "./runtime-paths.ts";
import { inspectVolume, isNoted } from "./runtime-volume.ts";

/** The base image; `id` is the engine's content hash of it (`sha256:…`). */
export type BaseImage = { ref: string; id: string };
/** The volume to mount read-only at `/opt/glovebox`, and what is in it. */
export type RuntimeVolume = RuntimePaths & { volume: string };
export type ImageSet = { base: BaseImage; runtime: RuntimeVolume };

/** What of the plan the engine has, whole; nothing heavy is loaded and the engine is asked once. */
export async function findPlanned(engine: Engine, inputs: ImageInputs, plan: ImagePlan): Promise<Partial<ImageSet>> {
  const [base, runtime] = await Promise.all([findBase(engine, plan), findRuntime(engine, inputs, plan)]);
  return { ...(base && { base }), ...(runtime && { runtime }) };
}

export async function findBase(engine: Engine, { baseRef }: ImagePlan): Promise<BaseImage | undefined> {
  const found = await orMissing(engine.docker.getImage(baseRef).inspect());
  return found && { ref: baseRef, id: found.Id };
}

async function findRuntime(engine: Engine, inputs: ImageInputs, plan: ImagePlan): Promise<RuntimeVolume | undefined> {
  if (!plan.bundle) return undefined;
  const volume = await inspectVolume(engine, plan.volume);
  if (!volume || !(await isNoted(engine, inputs, volume))) return undefined;
  return { volume: plan.volume, ...RUNTIME_PATHS };
}

export function isWhole(set: Partial<ImageSet>): set is ImageSet {
  return set.base !== undefined && set.runtime !== undefined;
}
