import type Docker from "dockerode";
import { GloveboxError, messageOf } from "../core/errors.ts";
import { shortId } from "../core/ids.ts";
import { clip, headBytes } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import { demultiplex } from "./channel.ts";
import { type ContainerSpec, createOptions } from "./container-spec.ts";
import { orMissing, statusOf } from "./engine/status.ts";

/** What the container itself prints is kept up to here: enough for the reason of an early death. */
const FIRST_OUTPUT_BYTES = 4 * 1024;

/** How a container ended. */
export type ContainerEnd = { running: boolean; exitCode: number | null; outOfMemory: boolean; error: string };

/** A started container. Whoever started it removes it. */
export type StartedContainer = {
  docker: Docker.Container;
  /** What it had printed so far, harmless to show. */
  firstOutput: () => string;
};

/**
 * Creates and starts a container; one that cannot be started is removed again. Names get a random part, and one that
 * is taken is replaced by another, so a foreign container of that name is left alone.
 */
export async function startContainer(
  docker: Docker,
  spec: Omit<ContainerSpec, "name">,
  prefix: string,
): Promise<StartedContainer> {
  const container = await create(docker, spec, prefix);
  try {
    const firstOutput = await attach(container);
    await container.start();
    return { docker: container, firstOutput };
  } catch (error) {
    await removeContainer(container).catch(() => undefined);
    throw startFailure(error);
  }
}

/** Undefined when the container no longer exists. */
export async function inspectEnd(container: Docker.Container): Promise<ContainerEnd | undefined> {
  const info = await orMissing(container.inspect());
  if (!info) return undefined;
  const { Running: running, Paused: paused, ExitCode: code, OOMKilled: outOfMemory, Error: error } = info.State;
  return { running: running && !paused, exitCode: running ? null : code, outOfMemory, error };
}

/** Kills what runs in it and removes it with its anonymous volumes; fine when it is already gone. */
export async function removeContainer(container: Docker.Container): Promise<void> {
  try {
    await container.remove({ force: true, v: true });
  } catch (error) {
    // 409: somebody else is removing it at this moment.
    if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error;
  }
}

async function create(docker: Docker, spec: Omit<ContainerSpec, "name">, prefix: string): Promise<Docker.Container> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await docker.createContainer(createOptions({ ...spec, name: `${prefix}-${shortId()}` }));
    } catch (error) {
      if (statusOf(error) !== 409 || attempt === 5) throw startFailure(error);
    }
  }
}

/** There is no log driver, so what is not caught while it runs is lost. */
async function attach(container: Docker.Container): Promise<() => string> {
  const stream = await container.attach({ stream: true, stdout: true, stderr: true });
  let text = "";
  const keep = (bytes: Buffer): boolean => {
    if (text.length < FIRST_OUTPUT_BYTES) text = headBytes(text + bytes.toString("utf8"), FIRST_OUTPUT_BYTES);
    return true;
  };
  demultiplex(stream, { stdout: keep, stderr: keep });
  stream.on("error", () => undefined);
  return () => visibleLine(text.trim());
}

function startFailure(error: unknown): GloveboxError {
  const said = clip(visibleLine(messageOf(error).replace(/^\(HTTP code \d+\) [^-]*- /, "")), 500);
  return new GloveboxError("SANDBOX_START_FAILED", `The engine could not start the container: ${said}`, {
    hint: hintFor(said),
    cause: error,
  });
}

function hintFor(said: string): string {
  if (/exec format error/.test(said))
    return "The image is for another processor architecture; build or pull it for this one";
  if (/bind source path does not exist|mounts denied|not shared/i.test(said)) {
    return "The engine does not see this machine's files: use an engine on this machine, or share the folder with it";
  }
  if (/no space left/i.test(said)) return "The engine's disk is full; `docker system df` shows by what";
  return "`glovebox doctor` checks the engine and the images";
}
