import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { VolumeInspectInfo } from "dockerode";
import { shortId } from "../../core/ids.ts";
import type { Engine } from "../engine/engine.ts";
import { orMissing } from "../engine/status.ts";
import type { ImageInputs } from "./plan.ts";

/** Docker and Podman say when a volume was made; the types of dockerode leave it out. */
export type VolumeInfo = VolumeInspectInfo & { CreatedAt?: string };

export function inspectVolume(engine: Engine, name: string): Promise<VolumeInfo | undefined> {
  return orMissing<VolumeInfo>(engine.docker.getVolume(name).inspect());
}

/**
 * Whether this very volume is known to be complete: a note in the cache folder names when it was made, so a volume of
 * the same name that came later (the engine makes an empty one when a container names it) does not pass.
 */
export async function isNoted(engine: Engine, inputs: ImageInputs, volume: VolumeInfo): Promise<boolean> {
  const note = await readFile(notePath(engine, inputs, volume.Name), "utf8").catch(() => "");
  return note !== "" && note === volume.CreatedAt;
}

/** Notes that the volume, as it is now, is complete. */
export async function noteVolume(engine: Engine, inputs: ImageInputs, name: string): Promise<void> {
  const volume = await inspectVolume(engine, name);
  if (!volume?.CreatedAt) return;
  const path = notePath(engine, inputs, name);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const scratch = `${path}.${shortId()}`;
  await writeFile(scratch, volume.CreatedAt);
  await rename(scratch, path);
}

function notePath(engine: Engine, { cacheDir }: ImageInputs, volume: string): string {
  const id = createHash("sha256").update(`${engine.endpoint} ${engine.id}`).digest("hex").slice(0, 12);
  return join(cacheDir, "volumes", `${volume}-${id}`);
}
