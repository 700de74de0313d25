import { posix } from "node:path";
import type Docker from "dockerode";
import { GloveboxError } from "../core/errors.ts";
import { shortId } from "../core/ids.ts";
import { visibleLine } from "../core/visible.ts";
import type { ContainerSpec } from "./container-spec.ts";
import { twice } from "./engine/twice.ts";
import { HOME, RUNTIME_ROOT, STATE_DIR } from "./places.ts";

/** More than any honest image declares; beyond it a path gets a tmpfs, which hides the image's content there. */
const MAX_VOLUMES = 16;

/** Where a volume of an image must not be mounted: over or into what is ours, or what the kernel shows. */
const NEVER = [RUNTIME_ROOT, STATE_DIR, "/proc", "/sys", "/dev"];
/** Where a temporary file system of ours lies, which the engine then leaves alone; below it there may be a volume. */
const TEMPORARY = ["/tmp", "/run", "/dev/shm", HOME];

/**
 * Pure: the image's volumes that get one of ours. Left out are those where something of ours is mounted anyway.
 * @throws GloveboxError `IMAGE_UNUSABLE` for a volume that would reach into the tool host, the kernel's files or the
 * workspace, where it would hide files or leave a folder behind.
 */
export function planImageVolumes(
  image: { ref: string; volumes: readonly string[] },
  mounts: readonly { target: string }[],
): string[] {
  const targets = mounts.map(({ target }) => target);
  const taken = new Set([...TEMPORARY, ...targets]);
  const paths = image.volumes.map((path) => posix.normalize(`/${path}`).replace(/(.)\/$/, "$1"));
  const wanted = [...new Set(paths)].filter((path) => !taken.has(path));
  const refused = wanted.find(
    (path) => path === "/" || [...NEVER, ...targets].some((place) => isAtOrBelow(path, place)),
  );
  if (refused === undefined) return wanted;
  throw new GloveboxError(
    "IMAGE_UNUSABLE",
    `Image \`${image.ref}\` declares \`${visibleLine(refused)}\` as a volume, which would lie over what the sandbox needs`,
    {
      hint: "Choose another image, or build one without that `VOLUME`",
    },
  );
}

function isAtOrBelow(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

/**
 * For each path the image declares as a volume one of ours: an anonymous one would carry no label and outlive a crash.
 * When one cannot be made, none is left.
 */
export async function createImageVolumes(
  docker: Docker,
  { targets, prefix, labels }: { targets: readonly string[]; prefix: string; labels: Record<string, string> },
): Promise<ContainerSpec["imageVolumes"]> {
  const run = shortId();
  const planned = targets.map((target, index) => ({
    target,
    volume: index < MAX_VOLUMES ? `${prefix}-${run}-${index}` : ("tmpfs" as const),
  }));
  const names = planned.flatMap(({ volume }) => (volume === "tmpfs" ? [] : [volume]));
  const made = await Promise.allSettled(names.map((Name) => docker.createVolume({ Name, Labels: labels })));
  const failed = made.find(({ status }) => status === "rejected");
  if (failed?.status !== "rejected") return planned;
  await removeVolumes(docker, names).catch(() => undefined);
  throw failed.reason;
}

/** Fine for volumes that are already gone. */
export async function removeVolumes(docker: Docker, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => twice(() => docker.getVolume(name).remove(), [404])));
}
