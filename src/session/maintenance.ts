import { VERSION } from "../core/version.ts";
import { connectEngine, type Engine } from "../sandbox/engine/engine.ts";
import { ensureImages, type ImageSet } from "../sandbox/images/images.ts";
import { type BuiltItem, listImages, removeStaleRuntimes } from "../sandbox/images/list.ts";
import { type Reaped, type Removed, reap } from "../sandbox/reaper.ts";
import { progressWords } from "./docker-provider.ts";
import type { Surroundings } from "./surroundings.ts";

type Options = { onProgress: (words: string) => void; signal: AbortSignal };

/** Removes what crashed sessions left, and images and volumes of other versions that nothing uses. */
export async function collectGarbage(surroundings: Surroundings): Promise<Reaped> {
  const engine = await engineOf(surroundings);
  const reaped = await reap(engine.docker);
  const stale = await removeStaleRuntimes(engine, await listImages(engine, inputsOf(surroundings)));
  const removed = stale.map(
    (name): Removed => ({ kind: name.includes(":") ? "image" : "volume", name, session: undefined }),
  );
  return { removed: [...reaped.removed, ...removed], problems: reaped.problems };
}

/** Builds what is missing of our images. */
export async function buildImages(surroundings: Surroundings, { onProgress, signal }: Options): Promise<ImageSet> {
  const engine = await engineOf(surroundings);
  return ensureImages(engine, inputsOf(surroundings), {
    env: surroundings.env,
    build: true,
    onProgress: (event) => onProgress(progressWords(event)),
    signal,
  });
}

/** All images and volumes that builds of ours have left in the engine. */
export async function listBuilt(surroundings: Surroundings): Promise<BuiltItem[]> {
  return listImages(await engineOf(surroundings), inputsOf(surroundings));
}

function engineOf({ env, userHome }: Surroundings): Promise<Engine> {
  return connectEngine({ env, home: userHome, uid: process.getuid?.() });
}

function inputsOf({ packageRoot, home }: Surroundings): { packageRoot: string; cacheDir: string; version: string } {
  return { packageRoot, cacheDir: home.cache, version: VERSION };
}
