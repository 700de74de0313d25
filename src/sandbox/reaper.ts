import type Docker from "dockerode";
import { messageOf } from "../core/errors.ts";
import { removeContainer } from "./engine/containers.ts";
import { orMissing, statusOf } from "./engine/status.ts";
import { LABELS } from "./labels.ts";
import { ownerState, parseOwner } from "./owner.ts";

/** A thing of ours that was removed because nobody uses it any more. */
export type Removed = { kind: "container" | "volume" | "image"; name: string; session: string | undefined };

export type Reaped = { removed: Removed[]; problems: string[] };

/** A container this young may belong to a session that is still starting it. */
const YOUNG_SECONDS = 60;
/** No build of ours takes this long. */
const HELPER_SECONDS = 1800;

/**
 * Removes the containers of sessions whose controller is gone, and their volumes. Never touches what has no label of
 * ours or a living owner. Where the owner cannot be looked at, the tool host's exec running or youth counts as life.
 */
export async function reap(docker: Docker): Promise<Reaped> {
  const containers = await docker.listContainers({ all: true, filters: { label: [LABELS.version] } });
  const reaped: Reaped = { removed: [], problems: [] };
  await Promise.all(containers.map((info) => reapContainer(docker, info, reaped)));
  await reapVolumes(docker, reaped);
  return reaped;
}

async function reapContainer(docker: Docker, info: Docker.ContainerInfo, reaped: Reaped): Promise<void> {
  const container = docker.getContainer(info.Id);
  try {
    if (await isAlive(container, info)) return;
    await removeContainer(container);
    const name = info.Names[0]?.replace(/^\//, "") ?? info.Id;
    reaped.removed.push({ kind: "container", name, session: info.Labels[LABELS.session] });
  } catch (error) {
    reaped.problems.push(`container ${info.Id.slice(0, 12)}: ${messageOf(error)}`);
  }
}

async function isAlive(container: Docker.Container, info: Docker.ContainerInfo): Promise<boolean> {
  const state = await stateOf(info.Labels);
  if (state !== "unknown") return state === "alive";
  // A build has no owner's label and may take long.
  if (info.Labels[LABELS.session] === undefined) return ageOf(info.Created) < HELPER_SECONDS;
  if (ageOf(info.Created) < YOUNG_SECONDS) return true;
  const inspected = await orMissing(container.inspect());
  // The engine lists an exec only while it runs, and ours ends with its controller.
  return (inspected?.ExecIDs ?? []).length > 0;
}

/** A volume is made before the container that uses it, so an unused one may belong to a session that is starting. */
async function reapVolumes(docker: Docker, reaped: Reaped): Promise<void> {
  const { Volumes: volumes } = await docker.listVolumes({ filters: { label: [LABELS.session], dangling: ["true"] } });
  await Promise.all((volumes ?? []).map((info) => reapVolume(docker, info, reaped)));
}

async function reapVolume(docker: Docker, info: Docker.VolumeInspectInfo, reaped: Reaped): Promise<void> {
  try {
    const state = await stateOf(info.Labels);
    if (state === "alive" || (state === "unknown" && ageOf(createdAt(info)) < YOUNG_SECONDS)) return;
    await docker.getVolume(info.Name).remove();
    reaped.removed.push({ kind: "volume", name: info.Name, session: info.Labels[LABELS.session] });
  } catch (error) {
    if (statusOf(error) !== 404 && statusOf(error) !== 409)
      reaped.problems.push(`volume ${info.Name}: ${messageOf(error)}`);
  }
}

function createdAt(info: Docker.VolumeInspectInfo): number {
  return "CreatedAt" in info ? Date.parse(String(info.CreatedAt)) / 1000 : 0;
}

function ageOf(createdSeconds: number): number {
  return Date.now() / 1000 - createdSeconds;
}

async function stateOf(labels: Record<string, string>): Promise<"alive" | "dead" | "unknown"> {
  const owner = parseOwner(labels[LABELS.owner]);
  return owner ? ownerState(owner) : "unknown";
}
