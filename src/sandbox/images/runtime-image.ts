import { cp } from "node:fs/promises";
import { join } from "node:path";
import { type BuildContext, buildImage, withScratch } from "./build.ts";
import { writeHostFolder } from "./host.ts";
import type { ImagePlan } from "./plan.ts";
import { ARCHITECTURES } from "./runtime-paths.ts";

/** Builds the runtime image, from programs of the base image; the tool host's bundle is not in it. */
export async function buildRuntimeImage(plan: ImagePlan, context: BuildContext): Promise<void> {
  const images = join(context.inputs.packageRoot, "images");
  await withScratch(context, async (folder) => {
    await cp(join(images, "runtime"), folder, { recursive: true });
    await cp(join(images, "base/with-apt.sh"), join(folder, "with-apt.sh"));
    await writeHostFolder(join(folder, "host"), plan.pins.debian.suite, new Map());
    const args = { FROM: plan.baseRef, LOADER: ARCHITECTURES[plan.architecture].loader };
    await buildImage(context, { step: "Runtime image", ref: plan.runtimeRef, kind: "runtime", folder, args });
  });
}
