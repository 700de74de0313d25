import type { ImageInspectInfo } from "dockerode";
import { GloveboxError } from "../../core/errors.ts";
import { clip } from "../../core/truncate.ts";
import { visibleLine } from "../../core/visible.ts";
import type { Engine } from "../engine/engine.ts";
import { orMissing } from "../engine/status.ts";
import type { ImageProgress } from "./build.ts";

/** What an image brings along, of which the sandbox takes away most. */
export type ImageDetails = {
  ref: string;
  id: string;
  /** `NAME@sha256:…`, when the image came from a registry. */
  digest: string | undefined;
  /** `NAME=value`, in the image's order. */
  env: string[];
  /** Paths the image declares as volumes. */
  volumes: string[];
  user: string;
  entrypoint: string[];
  cmd: string[];
  hasHealthcheck: boolean;
  architecture: string;
  workingDir: string;
};

export type InspectOptions = { onProgress?: (event: ImageProgress) => void; signal?: AbortSignal };

/** Any image, pulled when the engine does not have it. Throws `IMAGE_MISSING`, `IMAGE_UNUSABLE`. */
export async function inspectImage(engine: Engine, ref: string, options: InspectOptions = {}): Promise<ImageDetails> {
  requireReference(ref);
  const found = (await inspectLocal(engine, ref)) ?? (await pullAndInspect(engine, ref, options));
  const problem = unusable(engine, ref, found);
  if (problem) throw problem;
  return detailsOf(ref, found);
}

/** Characters of `[HOST[:PORT]/]NAME[:TAG][@DIGEST]` and of an id; the engine judges the rest. */
function requireReference(ref: string): void {
  if (/^[a-zA-Z0-9][\w.\-/:@]{0,400}$/.test(ref)) return;
  throw new GloveboxError("USAGE", `\`${visibleLine(clip(ref, 100))}\` is not the name of an image`, {
    hint: "Expected such as `debian:12` or `registry.example.com/team/image:tag`",
  });
}

async function inspectLocal(engine: Engine, ref: string): Promise<ImageInspectInfo | undefined> {
  return await orMissing(engine.docker.getImage(ref).inspect());
}

async function pullAndInspect(engine: Engine, ref: string, { onProgress, signal }: InspectOptions) {
  const { pullImage } = await import("./pull.ts");
  const step = `Image ${ref}`;
  await pullImage(engine, ref, { step, onProgress: onProgress ?? (() => undefined), signal });
  return await engine.docker.getImage(ref).inspect();
}

const ENGINE_NAMES = { x64: "amd64", arm64: "arm64" } as const;

function unusable(engine: Engine, ref: string, { Os, Architecture }: ImageInspectInfo): GloveboxError | undefined {
  const expected = ENGINE_NAMES[engine.architecture];
  if (Os === "linux" && Architecture === expected) return undefined;
  return new GloveboxError(
    "IMAGE_UNUSABLE",
    `Image \`${ref}\` is for ${Os}/${Architecture}, the engine runs linux/${expected}`,
    {
      hint: `Choose an image that is made for linux/${expected}`,
    },
  );
}

/** Pure: the details from the engine's answer. An image without a configuration has none of them. */
export function detailsOf(ref: string, info: ImageInspectInfo): ImageDetails {
  const config: Partial<ImageInspectInfo["Config"]> = info.Config ?? {};
  const test = config.Healthcheck?.Test ?? [];
  return {
    ref,
    id: info.Id,
    digest: info.RepoDigests?.[0],
    env: config.Env ?? [],
    volumes: Object.keys(config.Volumes ?? {}),
    user: config.User ?? "",
    entrypoint: asList(config.Entrypoint),
    cmd: config.Cmd ?? [],
    hasHealthcheck: test.length > 0 && test[0] !== "NONE",
    architecture: info.Architecture,
    workingDir: config.WorkingDir || "/",
  };
}

function asList(value: string | string[] | null | undefined): string[] {
  return typeof value === "string" ? [value] : (value ?? []);
}
