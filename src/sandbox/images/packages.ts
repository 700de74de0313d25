import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { execa } from "execa";
import { extract } from "tar-fs";
import { GloveboxError, messageOf, systemCode } from "../../core/errors.ts";
import type { BuildContext } from "./build.ts";
import { childEnv } from "./host.ts";

/** An npm package at one version; `integrity` as npm writes it (`sha512-…`). */
export type PinnedPackage = { name: string; version: string; integrity: string };

/** The package's tarball in the cache folder, fetched by the host's npm when it is not there; always verified. */
export async function fetchPackage(pinned: PinnedPackage, context: BuildContext): Promise<string> {
  const folder = join(context.inputs.cacheDir, "packages");
  const path = join(folder, `${pinned.name}-${pinned.version}.tgz`);
  if ((await integrityOf(path)) === pinned.integrity) return path;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const scratch = await mkdtemp(join(folder, "fetch-"));
  try {
    const file = await npmPack(pinned, scratch, context);
    const found = await integrityOf(file);
    if (found !== pinned.integrity) {
      const what = `npm package \`${pinned.name}@${pinned.version}\` has integrity \`${found}\`, expected \`${pinned.integrity}\``;
      throw new GloveboxError("IMAGE_BUILD_FAILED", what, {
        hint: "The registry in use serves another file; use one that does not",
      });
    }
    await rename(file, path);
    return path;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Runs in a folder of ours: an `.npmrc` of the workspace has no say. */
async function npmPack(pinned: PinnedPackage, folder: string, { env, signal }: BuildContext): Promise<string> {
  const wanted = `${pinned.name}@${pinned.version}`;
  try {
    const options = { cwd: folder, env: childEnv(env), extendEnv: false, ...(signal && { cancelSignal: signal }) };
    await execa("npm", ["pack", wanted, "--ignore-scripts", "--pack-destination", folder], options);
  } catch (error) {
    signal?.throwIfAborted();
    const missing = systemCode(error) === "ENOENT";
    const why = missing ? "`npm` was not found" : (messageOf(error).match(/npm error .*/)?.[0] ?? messageOf(error));
    throw new GloveboxError("IMAGE_BUILD_FAILED", `npm package \`${wanted}\` could not be fetched: ${why}`, {
      hint: missing ? "Install npm, which comes with Node" : "Check `npm ping` and the configured registry",
      cause: error,
    });
  }
  return join(folder, `${pinned.name}-${pinned.version}.tgz`);
}

async function integrityOf(path: string): Promise<string | undefined> {
  const sum = createHash("sha512");
  try {
    await pipeline(createReadStream(path), sum);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
  return `sha512-${sum.digest("base64")}`;
}

/** Unpacks what `keep` names (paths inside the package, without its leading folder) into `folder`. */
export async function unpackPackage(tarball: string, folder: string, keep: (path: string) => boolean): Promise<void> {
  await mkdir(folder, { recursive: true });
  const unpack = extract(folder, {
    strip: 1,
    ignore: (_, header) => header !== undefined && header.type === "file" && !keep(header.name),
  });
  await pipeline(createReadStream(tarball), createGunzip(), unpack);
}
