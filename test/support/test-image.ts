import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type Docker from "dockerode";
import { pack as packFolder } from "tar-fs";
import tar from "tar-stream";
import type { Engine } from "../../src/sandbox/engine/engine.ts";
import { readPlan } from "../../src/sandbox/images/plan.ts";
import { packageRoot } from "./engine.ts";

/** The base image of this version, for a Dockerfile's `FROM`. */
export function baseRef(engine: Engine): string {
  return readPlan({ packageRoot, cacheDir: "", version: "" }, engine.architecture).baseRef;
}

/** Builds an image from a Dockerfile, or a folder with one in it, and gives it a name; whoever builds it removes it. */
export async function buildTestImage(
  docker: Docker,
  name: string,
  source: string | { folder: string },
): Promise<string> {
  const context =
    typeof source === "string" ? await tarOf({ Dockerfile: source }).then(streamOf) : packFolder(source.folder);
  const stream = await docker.buildImage(context, {
    t: name,
    q: true,
    rm: true,
    forcerm: true,
  });
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(stream, (error: Error | null, output: { error?: string }[]) => {
      const failed = error ?? output.find((line) => line.error);
      if (failed) reject(failed instanceof Error ? failed : new Error(failed.error));
      else resolve();
    });
  });
  return name;
}

/** Loads an image without a file in it that says it is for `architecture`. */
export async function loadForeignImage(docker: Docker, name: string, architecture: string): Promise<void> {
  const layer = await tarOf({});
  const diffId = `sha256:${createHash("sha256").update(layer).digest("hex")}`;
  const config = { architecture, os: "linux", config: {}, rootfs: { type: "layers", diff_ids: [diffId] }, history: [] };
  const manifest = [{ Config: "config.json", RepoTags: [name], Layers: ["layer.tar"] }];
  const archive = await tarOf({
    "config.json": JSON.stringify(config),
    "layer.tar": layer,
    "manifest.json": JSON.stringify(manifest),
  });
  const stream = await docker.loadImage(Readable.from(archive));
  await new Promise((resolve) => docker.modem.followProgress(stream, resolve));
}

function streamOf(archive: Buffer): NodeJS.ReadableStream {
  return Readable.from([archive], { objectMode: false });
}

async function tarOf(files: Record<string, string | Buffer>): Promise<Buffer> {
  const pack = tar.pack();
  for (const [name, content] of Object.entries(files)) pack.entry({ name }, content);
  pack.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of pack) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function removeTestImage(docker: Docker, name: string): Promise<void> {
  await docker
    .getImage(name)
    .remove({ force: true })
    .catch(() => undefined);
}
