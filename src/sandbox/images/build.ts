import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { type Headers, pack } from "tar-fs";
import { GloveboxError, messageOf } from "../../core/errors.ts";
import { removeContainer } from "../engine/containers.ts";
import type { Engine } from "../engine/engine.ts";
import { statusOf } from "../engine/status.ts";
import type { ImageInputs } from "./plan.ts";

/** What a build is doing, for people: `step` is its name, `line` the last line it printed. */
export type ImageProgress = { step: string; line?: string };

/** All that a build needs to know of its surroundings. */
export type BuildContext = {
  engine: Engine;
  inputs: ImageInputs;
  env: NodeJS.ProcessEnv;
  onProgress: (event: ImageProgress) => void;
  signal: AbortSignal | undefined;
};

/** Kinds of what carries our labels. */
export type ImageKind = "base" | "runtime" | "debian" | "build";

/** Of our volumes and of containers that builders make. */
export function labelsOf(inputs: ImageInputs, kind: ImageKind): Record<string, string> {
  return { glovebox: inputs.version, "glovebox.kind": kind };
}

/** Of images. Containers inherit them, also a person's own, so they lack the label that marks a container as ours. */
export function imageLabelsOf(inputs: ImageInputs, kind: ImageKind): Record<string, string> {
  return { "glovebox.image": inputs.version, "glovebox.kind": kind };
}

/** Marks what builds from this cache folder leave behind: its lock makes sure that there is one at a time. */
export function builderLabel({ cacheDir }: ImageInputs): Record<string, string> {
  return { "glovebox.builder": createHash("sha256").update(`${hostname()}:${cacheDir}`).digest("hex").slice(0, 12) };
}

/** Runs `work` with a new folder below the cache, and removes it. */
export async function withScratch<T>({ inputs }: BuildContext, work: (folder: string) => Promise<T>): Promise<T> {
  const parent = scratchParent(inputs);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(parent, "build-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export function scratchParent(inputs: ImageInputs): string {
  return join(inputs.cacheDir, "scratch");
}

export type BuildRequest = { step: string; ref: string; kind: ImageKind; folder: string; args: Record<string, string> };

/** Builds `folder` as `ref`; the name appears only when all of it is there. Throws `IMAGE_BUILD_FAILED`. */
export async function buildImage(context: BuildContext, request: BuildRequest): Promise<void> {
  const { engine, inputs, env, signal } = context;
  const [builder] = Object.values(builderLabel(inputs));
  const stream = await engine.docker.buildImage(packContext(request.folder), {
    t: request.ref,
    buildargs: { ...proxyArgs(env), ...request.args, BUILDER: builder ?? "" },
    // The last word on the builder's label, which containers inherit from an image: only leftovers keep it.
    labels: { ...imageLabelsOf(inputs, request.kind), "glovebox.builder": "" },
    nocache: true,
    rm: true,
    forcerm: true,
    ...(signal && { abortSignal: signal }),
  });
  await followBuild(stream, context, request);
}

/** Readable by all whatever the umask here is, since the modes become those of the image. */
function packContext(folder: string): NodeJS.ReadableStream {
  const modeOf = (header: Headers) => (header.type === "directory" || (header.mode ?? 0) & 0o100 ? 0o755 : 0o644);
  return pack(folder, { map: (header) => ({ ...header, mode: modeOf(header) }) });
}

/** Proxy variables are arguments that a build always has, and that the image's history leaves out. */
function proxyArgs(env: NodeJS.ProcessEnv): Record<string, string> {
  const found = Object.entries(env).filter(([name, value]) => value && /^(?:https?|no|ftp|all)_proxy$/i.test(name));
  return Object.fromEntries(found.map(([name, value]) => [name, value ?? ""]));
}

async function followBuild(
  stream: NodeJS.ReadableStream,
  { signal, onProgress }: BuildContext,
  { step, ref }: BuildRequest,
): Promise<void> {
  const tail: string[] = [];
  try {
    await followStream(stream, (line) => {
      tail.push(line);
      if (tail.length > TAIL_LINES) tail.shift();
      onProgress({ step, line });
    });
  } catch (error) {
    signal?.throwIfAborted();
    const last = tail.findLast((line) => /^E:|error/i.test(line)) ?? messageOf(error);
    throw new GloveboxError("IMAGE_BUILD_FAILED", `Building \`${ref}\` failed: ${last}`, {
      hint: `Its last lines were:\n${tail.join("\n")}`,
      cause: error,
    });
  }
}

const TAIL_LINES = 12;

type StreamEvent = { stream?: string; status?: string; id?: string; error?: string };

/** Reads a stream of the engine's progress to its end; rejects with the error it reports, or when it breaks off. */
export async function followStream(stream: NodeJS.ReadableStream, onLine: (line: string) => void): Promise<void> {
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.filter((text) => text.trim() !== "")) handleEvent(JSON.parse(line), onLine);
  }
}

function handleEvent(event: StreamEvent, onLine: (line: string) => void): void {
  if (event.error) throw new Error(event.error.trim());
  const text = event.stream ?? [event.id, event.status].filter(Boolean).join(" ");
  for (const line of text.split(/[\r\n]+/)) {
    const plain = line.replace(ANSI, "").trim();
    if (plain) onLine(plain);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of build output begin with one
const ANSI = /\u001b\[[0-9;]*m/g;

/** Removes unnamed images with these labels. An engine that is at it for somebody else leaves them to the next build. */
async function prune({ docker }: Engine, label: readonly string[]): Promise<void> {
  try {
    await docker.pruneImages({ filters: JSON.stringify({ label, dangling: ["true"] }) });
  } catch (error) {
    if (statusOf(error) !== 409) throw error;
  }
}

/** Removes what an interrupted or finished build of this cache folder left: containers, unnamed images, folders. */
export async function cleanUp({ engine, inputs }: Pick<BuildContext, "engine" | "inputs">): Promise<void> {
  const label = Object.entries(builderLabel(inputs)).map(([name, value]) => `${name}=${value}`);
  const filters = JSON.stringify({ label });
  const left = await engine.docker.listContainers({ all: true, filters });
  await Promise.all(left.map(({ Id }) => removeContainer(engine.docker.getContainer(Id))));
  await prune(engine, label);
  // Whole images whose name another builder, with another cache folder, has given to its own.
  for (const kind of ["base", "runtime"] satisfies ImageKind[]) {
    await prune(engine, [`glovebox.kind=${kind}`]);
  }
  await rm(scratchParent(inputs), { recursive: true, force: true });
}
