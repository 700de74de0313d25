import type Docker from "dockerode";
import { shortId } from "../core/ids.ts";
import type { ContainerSpec } from "./container-spec.ts";
import { statusOf } from "./engine/status.ts";

/** More than any honest image declares; beyond it a path gets a tmpfs, which hides the image's content there. */
const MAX_VOLUMES = 16;

/**
 * For each path the image declares as a volume one of ours: an anonymous one would carry no label and outlive a crash.
 */
export async function createImageVolumes(
  docker: Docker,
  { targets, prefix, labels }: { targets: readonly string[]; prefix: string; labels: Record<string, string> },
): Promise<ContainerSpec["imageVolumes"]> {
  const run = shortId();
  return Promise.all(
    targets.map(async (target, index) => {
      if (index >= MAX_VOLUMES) return { target, volume: "tmpfs" as const };
      const volume = `${prefix}-${run}-${index}`;
      await docker.createVolume({ Name: volume, Labels: labels });
      return { target, volume };
    }),
  );
}

/** Fine for volumes that are already gone. */
export async function removeVolumes(docker: Docker, names: readonly string[]): Promise<void> {
  await Promise.all(
    names.map(async (name) => {
      await docker
        .getVolume(name)
        .remove()
        .catch((error: unknown) => {
          if (statusOf(error) !== 404) throw error;
        });
    }),
  );
}
