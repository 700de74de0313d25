import { setTimeout as sleep } from "node:timers/promises";
import { orMissing, statusOf } from "../engine/status.ts";
import { ownerLabel } from "../owner.ts";
import { type BuildContext, builderLabel, labelsOf } from "./build.ts";

/** Filling takes a second or two; a container that stands for longer was left by a builder that died. */
const STALE_MS = 60_000;
const POLL_MS = 200;

/**
 * Runs `work` while no other builder of this engine holds `name`, also one with another cache folder or on another
 * machine: a container's name exists once. The container is never started.
 */
export async function withEngineMutex<T>(
  name: string,
  image: string,
  context: BuildContext,
  work: () => Promise<T>,
): Promise<T> {
  while (!(await tryCreate(name, image, context))) {
    if (!(await removeStale(name, context))) await sleep(POLL_MS, undefined, { signal: context.signal });
  }
  try {
    return await work();
  } finally {
    await orMissing(context.engine.docker.getContainer(name).remove({ force: true }));
  }
}

async function tryCreate(name: string, image: string, { engine, inputs, signal }: BuildContext): Promise<boolean> {
  signal?.throwIfAborted();
  try {
    const Labels = { ...labelsOf(inputs, "build"), ...builderLabel(inputs), ...(await ownerLabel()) };
    await engine.docker.createContainer({ name, Image: image, Labels, HostConfig: { NetworkMode: "none" } });
    return true;
  } catch (error) {
    if (statusOf(error) === 409) return false;
    throw error;
  }
}

/** Our own lock is held, so one with our label has no living owner. */
async function removeStale(name: string, { engine, inputs }: BuildContext): Promise<boolean> {
  const container = engine.docker.getContainer(name);
  const found = await orMissing(container.inspect());
  if (!found) return true;
  const isOurs = Object.entries(builderLabel(inputs)).every(([key, value]) => found.Config.Labels[key] === value);
  if (!isOurs && Date.now() - Date.parse(found.Created) < STALE_MS) return false;
  await orMissing(container.remove({ force: true }));
  return true;
}
