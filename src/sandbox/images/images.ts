import { join } from "node:path";
import { GloveboxError, messageOf, toGloveboxError } from "../../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import type { BuildContext, ImageProgress } from "./build.ts";
import { findPlanned, type ImageSet, isWhole } from "./find.ts";
import { type ImageInputs, type ImagePlan, readPlan, requireBundle } from "./plan.ts";

export type { ImageSet } from "./find.ts";
export type { ImageInputs } from "./plan.ts";

export type EnsureOptions = {
  /** For the package managers that a build asks; only what they need is passed on. */
  env: NodeJS.ProcessEnv;
  /** False: what is missing is an error (`IMAGE_MISSING`). */
  build: boolean;
  onProgress?: (event: ImageProgress) => void;
  signal?: AbortSignal;
};

/**
 * Everything a sandbox needs, built when it is missing. Throws `IMAGE_MISSING`, `IMAGE_BUILD_FAILED`, `ENGINE_FAILED`,
 * and `ABORTED` after `signal`.
 */
export async function ensureImages(engine: Engine, inputs: ImageInputs, options: EnsureOptions): Promise<ImageSet> {
  const plan = readPlan(inputs, engine.architecture);
  const found = await findPlanned(engine, inputs, plan);
  if (isWhole(found)) return found;
  requireBundle(plan);
  await makeAlone(plan, engine, inputs, options).catch((cause) => {
    throw asBuildFailure(cause, options.signal);
  });
  const built = await findPlanned(engine, inputs, plan);
  if (isWhole(built)) return built;
  throw new GloveboxError("IMAGE_BUILD_FAILED", "The images were built, but the engine does not show them");
}

/** Builders are loaded here only: on most starts there is nothing to build. */
async function makeAlone(plan: ImagePlan, engine: Engine, inputs: ImageInputs, options: EnsureOptions): Promise<void> {
  const [{ makeMissing }, { withLock }] = await Promise.all([import("./make.ts"), import("./lock.ts")]);
  const onProgress = options.onProgress ?? (() => undefined);
  const context: BuildContext = { engine, inputs, env: options.env, onProgress, signal: options.signal };
  const onWait = ({ pid }: { pid: number }) =>
    onProgress({ step: "Waiting", line: `Process ${pid} is building the images` });
  const lock = { signal: options.signal, onWait };
  await withLock(join(inputs.cacheDir, "images.lock"), lock, () => makeMissing(plan, context, options.build));
}

function asBuildFailure(cause: unknown, signal: AbortSignal | undefined): GloveboxError {
  if (signal?.aborted) return new GloveboxError("ABORTED", "Building the images was cancelled", { cause });
  const known = toGloveboxError(cause);
  if (known.code !== "INTERNAL") return known;
  const hint = "Run it again; `glovebox doctor` tells whether the engine is well";
  return new GloveboxError("IMAGE_BUILD_FAILED", `Building the images failed: ${messageOf(cause)}`, { hint, cause });
}
