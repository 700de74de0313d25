import type Docker from "dockerode";
import { shortId } from "../../core/ids.ts";
import { isDisconnected } from "./guard.ts";
import { statusOf } from "./status.ts";
import { twice } from "./twice.ts";

/** Kills what runs in it and removes it with its anonymous volumes; fine when it is already gone. */
export function removeContainer(container: Docker.Container): Promise<void> {
  // 409: somebody else is removing it at this moment.
  return twice(() => container.remove({ force: true, v: true }), [404, 409]);
}

/**
 * Creates a container under a name that begins with `prefix`. One that the engine may have made without being able to
 * say so is removed again.
 */
export async function createContainer(
  docker: Docker,
  options: Docker.ContainerCreateOptions,
  prefix: string,
): Promise<Docker.Container> {
  for (let attempt = 1; ; attempt++) {
    const name = `${prefix}-${shortId()}`;
    try {
      return await docker.createContainer({ ...options, name });
    } catch (error) {
      if (isDisconnected(error)) await removeContainer(docker.getContainer(name)).catch(() => undefined);
      if (statusOf(error) !== 409 || attempt === 5) throw error;
    }
  }
}
