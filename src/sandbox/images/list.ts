import type { Engine } from "../engine/engine.ts";
import { statusOf } from "../engine/status.ts";
import { type ImageInputs, readPlan } from "./plan.ts";
import type { VolumeInfo } from "./runtime-volume.ts";

/** An image or volume that a build of ours made. `isCurrent`: this version uses it. */
export type BuiltItem = {
  type: "image" | "volume";
  kind: string;
  name: string;
  isCurrent: boolean;
  createdMs: number;
  /** Undefined for volumes: the engine would have to measure them. */
  sizeBytes: number | undefined;
};

/** All that builds of any version have left in the engine, images first. */
export async function listImages(engine: Engine, inputs: ImageInputs): Promise<BuiltItem[]> {
  const { baseRef, runtimeRef, volume } = readPlan(inputs, engine.architecture);
  const current = new Set([baseRef, runtimeRef, volume]);
  const [images, { Volumes }] = await Promise.all([
    engine.docker.listImages({ filters: JSON.stringify({ label: ["glovebox.kind"], reference: ["glovebox/*"] }) }),
    engine.docker.listVolumes({ filters: JSON.stringify({ label: ["glovebox.kind=runtime"] }) }),
  ]);
  const imageItems = images.flatMap(({ RepoTags, Labels, Created, Size }) =>
    (RepoTags ?? []).map((name): BuiltItem => {
      const kind = Labels["glovebox.kind"] ?? "";
      const isCurrent = current.has(name) || kind === "debian";
      return { type: "image", kind, name, isCurrent, createdMs: Created * 1000, sizeBytes: Size };
    }),
  );
  const volumeItems = (Volumes ?? []).map((info: VolumeInfo): BuiltItem => {
    const createdMs = Date.parse(info.CreatedAt ?? "") || 0;
    return {
      type: "volume",
      kind: "runtime",
      name: info.Name,
      isCurrent: current.has(info.Name),
      createdMs,
      sizeBytes: undefined,
    };
  });
  return [...imageItems, ...volumeItems];
}

/** Another glovebox may be about to use what it has just built. */
const MIN_AGE_MS = 10 * 60_000;

/** Removes what `listImages` does not call current, is no longer young and no container uses; returns the names. */
export async function removeStaleRuntimes(engine: Engine, items: readonly BuiltItem[]): Promise<string[]> {
  const stale = items.filter((item) => !item.isCurrent && Date.now() - item.createdMs > MIN_AGE_MS);
  const removed: string[] = [];
  for (const item of stale.toReversed()) {
    if (await removeItem(engine, item)) removed.push(item.name);
  }
  return removed;
}

async function removeItem(engine: Engine, { type, name }: BuiltItem): Promise<boolean> {
  try {
    await (type === "image" ? engine.docker.getImage(name).remove() : engine.docker.getVolume(name).remove());
    return true;
  } catch (error) {
    // 409: in use; 404: somebody else was faster.
    if (statusOf(error) === 409 || statusOf(error) === 404) return false;
    throw error;
  }
}
