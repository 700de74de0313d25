import { GloveboxError } from "../../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import { engineWords } from "../engine/guard.ts";
import { statusOf } from "../engine/status.ts";
import { followStream, type ImageProgress } from "./build.ts";

/** A pull that says nothing for this long is given up: registries are often behind proxies that swallow packets. */
const IDLE_MS = 20_000;

export type PullOptions = {
  step: string;
  onProgress: (event: ImageProgress) => void;
  signal: AbortSignal | undefined;
};

/** Pulls `ref`; throws `IMAGE_MISSING` with the registry's reason when it cannot. */
export async function pullImage(engine: Engine, ref: string, { step, onProgress, signal }: PullOptions): Promise<void> {
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(new Error(`the registry did not answer for ${IDLE_MS / 1000} s`)), IDLE_MS);
  const abortSignal = signal ? AbortSignal.any([signal, idle.signal]) : idle.signal;
  try {
    const stream = await engine.docker.createImage({ ...splitRef(ref), abortSignal });
    await followStream(stream, (line) => {
      timer.refresh();
      onProgress({ step, line });
    });
  } catch (error) {
    signal?.throwIfAborted();
    const why = engineWords(idle.signal.aborted ? idle.signal.reason : error);
    throw new GloveboxError("IMAGE_MISSING", `Image \`${ref}\` is not in the engine and cannot be pulled: ${why}`, {
      hint: "Check the name, or bring it into the engine with `docker load` or `docker build`",
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** A name without tag or digest means `latest`, as in docker; the API would pull every tag. */
export function splitRef(ref: string): { fromImage: string; tag?: string } {
  const hasTag = ref.includes("@") || ref.slice(ref.lastIndexOf("/") + 1).includes(":");
  return hasTag ? { fromImage: ref } : { fromImage: ref, tag: "latest" };
}

const ENGINE_ARCHITECTURES = { x64: "amd64", arm64: "arm64" } as const;

export async function hasImage(engine: Engine, ref: string, architecture: "x64" | "arm64"): Promise<boolean> {
  try {
    const found = await engine.docker.getImage(ref).inspect();
    return found.Architecture === ENGINE_ARCHITECTURES[architecture];
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}
