import { GloveboxError } from "../../core/errors.ts";
import { orMissing } from "../engine/status.ts";
import { buildBase } from "./base.ts";
import { type BuildContext, cleanUp } from "./build.ts";
import { findBase, findPlanned, isWhole } from "./find.ts";
import type { ImagePlan } from "./plan.ts";
import { checkVolume, fillVolume } from "./runtime-fill.ts";
import { buildRuntimeImage } from "./runtime-image.ts";
import { withEngineMutex } from "./runtime-mutex.ts";

/**
 * Makes what the plan names and the engine lacks. The cache folder's lock is held: what an earlier build left is nobody's,
 * and what another one built meanwhile is found. Without `mayBuild` it only looks closer, and throws `IMAGE_MISSING`.
 */
export async function makeMissing(plan: ImagePlan, context: BuildContext, mayBuild: boolean): Promise<void> {
  if (isWhole(await findPlanned(context.engine, context.inputs, plan))) return;
  await cleanUp(context);
  try {
    await makeBase(plan, context, mayBuild);
    await makeRuntime(plan, context, mayBuild);
  } finally {
    // What cannot be removed now is removed before the next build; it must not hide why this one failed.
    await cleanUp(context).catch(() => undefined);
  }
}

async function makeBase(plan: ImagePlan, context: BuildContext, mayBuild: boolean): Promise<void> {
  if (await findBase(context.engine, plan)) return;
  if (!mayBuild) throw missing(`The base image \`${plan.baseRef}\``);
  await buildBase(plan, context);
}

async function makeRuntime(plan: ImagePlan, context: BuildContext, mayBuild: boolean): Promise<void> {
  const { engine, inputs } = context;
  if (await checkVolume(engine, inputs, plan.volume, plan.baseRef)) return;
  if (!mayBuild) throw missing(`The runtime volume \`${plan.volume}\``);
  const image = await orMissing(engine.docker.getImage(plan.runtimeRef).inspect());
  if (!image) await buildRuntimeImage(plan, context);
  context.onProgress({ step: "Runtime volume", line: plan.volume });
  await withEngineMutex(`${plan.volume}-lock`, plan.runtimeRef, context, async () => {
    if (await checkVolume(engine, inputs, plan.volume, plan.baseRef)) return;
    await fillVolume(plan, context);
  });
}

function missing(what: string): GloveboxError {
  return new GloveboxError("IMAGE_MISSING", `${what} has not been built`, { hint: "glovebox image build" });
}
