import { chmod, cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BuildContext, buildImage, withScratch } from "./build.ts";
import { ensureDebian } from "./debian.ts";
import { writeHostFolder } from "./host.ts";
import { fetchPackage, unpackPackage } from "./packages.ts";
import type { ImagePlan } from "./plan.ts";
import { ARCHITECTURES } from "./runtime-paths.ts";

/** Builds the base image under its name in the plan. */
export async function buildBase(plan: ImagePlan, context: BuildContext): Promise<void> {
  await withScratch(context, async (folder) => {
    const [debian] = await Promise.all([ensureDebian(plan, context), writeContext(folder, plan, context)]);
    const request = { step: "Base image", ref: plan.baseRef, kind: "base", folder, args: { FROM: debian } } as const;
    await buildImage(context, request);
  });
}

async function writeContext(folder: string, plan: ImagePlan, context: BuildContext): Promise<void> {
  await cp(join(context.inputs.packageRoot, "images/base"), folder, { recursive: true });
  await writeHostFolder(join(folder, "host"), plan.pins.debian.suite, plan.certificates);
  await writeNode(join(folder, "rootfs/usr/local"), plan, context);
}

/** Node with its headers, for native addons, and npm. */
async function writeNode(prefix: string, plan: ImagePlan, context: BuildContext): Promise<void> {
  const { node, npm } = plan.pins;
  const names = ARCHITECTURES[plan.architecture];
  const [nodeTarball, npmTarball] = await Promise.all([
    fetchPackage({ name: names.npm, version: node.version, integrity: node[plan.architecture] }, context),
    fetchPackage({ name: "npm", ...npm }, context),
  ]);
  await unpackPackage(nodeTarball, prefix, (path) => isNodeFile(path, names.openssl));
  const npmFolder = join(prefix, "lib/node_modules/npm");
  await unpackPackage(npmTarball, npmFolder, () => true);
  for (const command of ["npm", "npx"]) {
    await chmod(join(npmFolder, `bin/${command}-cli.js`), 0o755);
    await symlink(`../lib/node_modules/npm/bin/${command}-cli.js`, join(prefix, "bin", command));
  }
  await mkdir(join(prefix, "etc"), { recursive: true });
  await writeFile(join(prefix, "etc/npmrc"), NPMRC);
}

const NPMRC = "nodedir=/usr/local\nupdate-notifier=false\nfund=false\n";

/** The headers hold OpenSSL's for two dozen platforms, 64 MB; one is needed. */
export function isNodeFile(path: string, openssl: string): boolean {
  const platform = path.match(/^include\/node\/openssl\/archs\/([^/]+)\//)?.[1];
  if (platform !== undefined) return platform === openssl;
  return path === "bin/node" || path.startsWith("include/");
}
