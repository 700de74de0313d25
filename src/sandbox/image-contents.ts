import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import tar from "tar-stream";
import { writeAtomically } from "../core/atomic-file.ts";
import { GloveboxError } from "../core/errors.ts";
import { isJsonObject } from "../core/json.ts";
import { createContainer, removeContainer } from "./engine/containers.ts";
import { orMissing, statusOf } from "./engine/status.ts";
import { probeLabels } from "./owner.ts";

/** What must be known of an image's files before a container of it is made. */
export type ImageContents = {
  passwd: string;
  group: string;
  /** The image's shell, bash where it has one; undefined when it has not even `sh`. */
  shell: { path: string; kind: "bash" | "sh" } | undefined;
};

const SHELLS = [
  { path: "/bin/bash", kind: "bash" },
  { path: "/usr/bin/bash", kind: "bash" },
  { path: "/usr/local/bin/bash", kind: "bash" },
  { path: "/bin/sh", kind: "sh" },
  { path: "/usr/bin/sh", kind: "sh" },
] as const;

/** A passwd or group file above this is not one: 1 MiB. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Reads once per image, through a container that never starts; an image's id is a hash of what is in it. */
export async function imageContents(
  docker: Docker,
  imageId: string,
  version: string,
  cacheDir: string,
): Promise<ImageContents> {
  const file = join(cacheDir, "images", `${imageId.replace(/[^0-9a-z]/gi, "-")}.json`);
  const cached = await readCached(file);
  if (cached) return cached;
  const contents = await readContents(docker, imageId, version);
  await writeAtomically(file, JSON.stringify(contents), 0o600);
  return contents;
}

/** The image's shell. @throws GloveboxError `IMAGE_UNUSABLE` when it has none. */
export function requireShell({ shell }: ImageContents, ref: string): NonNullable<ImageContents["shell"]> {
  if (shell) return shell;
  throw new GloveboxError("IMAGE_UNUSABLE", `Image \`${ref}\` has no shell: neither bash nor sh was found in it`, {
    hint: "Choose an image with a shell; without `--image` glovebox uses its own",
  });
}

async function readCached(file: string): Promise<ImageContents | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isContents(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isContents(value: unknown): value is ImageContents {
  if (!isJsonObject(value) || typeof value["passwd"] !== "string" || typeof value["group"] !== "string") return false;
  const shell = value["shell"];
  return (
    shell === undefined ||
    SHELLS.some((known) => isJsonObject(shell) && known.path === shell["path"] && known.kind === shell["kind"])
  );
}

async function readContents(docker: Docker, imageId: string, version: string): Promise<ImageContents> {
  const options = { Image: imageId, Entrypoint: ["/never-started"], Cmd: [], Labels: await probeLabels(version) };
  const container = await createContainer(
    docker,
    { ...options, HostConfig: { NetworkMode: "none" } },
    "glovebox-probe",
  );
  try {
    const [passwd, group, ...shells] = await Promise.all([
      readText(container, "/etc/passwd"),
      readText(container, "/etc/group"),
      ...SHELLS.map(({ path }) => exists(container, path)),
    ]);
    return { passwd, group, shell: SHELLS.find((_, index) => shells[index]) };
  } finally {
    await removeContainer(container);
  }
}

/** The text of a regular file of the image; empty when it is absent, a link or too large, as if the image had none. */
async function readText(container: Docker.Container, path: string): Promise<string> {
  const archive = await orMissing(container.getArchive({ path }));
  if (!archive) return "";
  const chunks: Buffer[] = [];
  for await (const entry of archive.pipe(tar.extract())) {
    const { type, size } = entry.header;
    if (type === "file" && (size ?? 0) <= MAX_FILE_BYTES) for await (const chunk of entry) chunks.push(chunk as Buffer);
    else entry.resume();
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function exists(container: Docker.Container, path: string): Promise<boolean> {
  try {
    // An answer whose body is not read keeps its connection, and the process, for minutes.
    ((await container.infoArchive({ path })) as NodeJS.ReadableStream).resume();
    return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}
