import { join } from "node:path";
import { VERSION } from "../core/version.ts";
import { BUILT_IN_POLICY } from "../policy/policy.ts";
import { connectEngine, type Engine } from "../sandbox/engine/engine.ts";
import { ensureImages, type ImageSet } from "../sandbox/images/images.ts";
import { type BuiltItem, listImages, removeStaleRuntimes } from "../sandbox/images/list.ts";
import { type Reaped, type Removed, reap } from "../sandbox/reaper.ts";
import { progressWords } from "./docker-provider.ts";
import { workspacesIn } from "./history-find.ts";
import { containerChoices } from "./policy-use.ts";
import { finishAllDead, type Recovered } from "./recover.ts";
import type { Surroundings } from "./surroundings.ts";

type Options = { onProgress: (words: string) => void; signal: AbortSignal };

export type Collected = Reaped & Pick<Recovered, "moved">;

/**
 * Removes what crashed sessions left, also in their workspaces, and images and volumes of other versions that nothing
 * uses.
 */
export async function collectGarbage(surroundings: Surroundings, options: Options): Promise<Collected> {
  const engine = await engineOf(surroundings);
  const reaped = await reap(engine.docker);
  const { moved, problems } = await recoverAll(surroundings, reaped, options);
  const stale = await removeStaleRuntimes(engine, await listImages(engine, inputsOf(surroundings)));
  const removed = stale.map(
    (name): Removed => ({ kind: name.includes(":") ? "image" : "volume", name, session: undefined }),
  );
  return {
    removed: [...reaped.removed, ...removed],
    moved,
    problems: [...reaped.problems.map((words) => `could not remove ${words}`), ...problems],
  };
}

async function recoverAll(surroundings: Surroundings, reaped: Reaped, options: Options): Promise<Recovered> {
  const { env, userHome, home } = surroundings;
  const onReaped = ({ removed, problems }: Reaped): void => {
    reaped.removed.push(...removed);
    reaped.problems.push(...problems);
  };
  const workspaces = (await workspacesIn(home)).map((workspace) => join(home.sessions, workspace));
  const rest = { env, userHome, ...containerChoices(BUILT_IN_POLICY, {}), build: false, onReaped };
  return finishAllDead(workspaces, { ...inputsOf(surroundings), ...rest, ...options }, options.signal);
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
