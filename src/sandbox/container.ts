import { StringDecoder } from "node:string_decoder";
import type Docker from "dockerode";
import { GloveboxError, toGloveboxError } from "../core/errors.ts";
import { headBytes } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import { demultiplex } from "./channel.ts";
import { type ContainerSpec, createOptions } from "./container-spec.ts";
import { createContainer, removeContainer } from "./engine/containers.ts";
import { engineWords, isDisconnected } from "./engine/guard.ts";
import { orMissing } from "./engine/status.ts";

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
export async function startContainer(docker: Docker, spec: ContainerSpec, prefix: string): Promise<StartedContainer> {
  const container = await createContainer(docker, createOptions(spec), prefix).catch((error: unknown) => {
    throw startFailure(error);
  });
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

/** There is no log driver, so what is not caught while it runs is lost. */
async function attach(container: Docker.Container): Promise<() => string> {
  const stream = await container.attach({ stream: true, stdout: true, stderr: true });
  let text = "";
  const decoder = new StringDecoder("utf8");
  const keep = (bytes: Buffer): boolean => {
    if (text.length < FIRST_OUTPUT_BYTES) text = headBytes(text + decoder.write(bytes), FIRST_OUTPUT_BYTES);
    return true;
  };
  demultiplex(stream, { stdout: keep, stderr: keep });
  stream.on("error", () => undefined);
  return () => visibleLine(text.trim());
}

/** What the engine says against a container; a broken connection says nothing of it. */
export function startFailure(error: unknown): GloveboxError {
  if (isDisconnected(error)) return toGloveboxError(error);
  const said = engineWords(error);
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
