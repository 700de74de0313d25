import { realpath, stat } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { GloveboxError, systemCode } from "../core/errors.ts";

/** A folder that may be mounted: its real path, and who owns it. */
export type Workspace = { root: string; uid: number; gid: number };

/** What must not be given to a container: the person's home, and the place where our own logs and keys are. */
export type Forbidden = { userHome: string; gloveboxHome: string };

/** Paths the container needs for itself: a workspace there would hide them, and one above would hold them. */
const NEEDED = ["/usr", "/home/glovebox", "/tmp", "/run", "/var/run"];
/** Those of which nothing can be spared either, and what is the engine's own. */
const CLOSED = [
  "/opt/glovebox",
  ...["bin", "sbin", "lib", "lib32", "lib64", "libx32"].flatMap((name) => [`/${name}`, `/usr/${name}`]),
  "/usr/libexec",
  "/etc",
  "/boot",
  ...["docker", "containerd", "containers"].flatMap((name) => [`/var/lib/${name}`, `/run/${name}`]),
];
/** Nothing in these is a file of anybody's. */
const UNREAL = ["/proc", "/sys", "/dev"];

/**
 * The folder `dir` names, if it may be a workspace.
 * @throws GloveboxError `WORKSPACE_REFUSED` for what does not exist, is no folder, or would give too much away.
 */
export async function openWorkspace(dir: string, forbidden: Forbidden): Promise<Workspace> {
  const given = resolve(dir);
  const root = await realpath(given).catch((error: unknown) => {
    throw refused(dir, systemCode(error) === "ENOENT" ? "does not exist" : `cannot be opened (${systemCode(error)})`);
  });
  const info = await stat(root);
  if (!info.isDirectory()) throw refused(dir, "is not a folder");
  const problem = whyForbidden(root, await resolveForbidden(forbidden), given);
  if (problem) throw refused(dir, problem);
  return { root, uid: info.uid, gid: info.gid };
}

/** Pure: why `root`, a real path that was given as `given`, must not be mounted. */
export function whyForbidden(
  root: string,
  { userHome, gloveboxHome }: Forbidden,
  given: string = root,
): string | undefined {
  if (root === "/") return "is the whole file system";
  if (root === userHome) return "is your home folder, with everything in it";
  if (isInside(userHome, root)) return "contains your home folder";
  if (isInside(root, gloveboxHome)) return "is the folder of glovebox's own logs and keys";
  if (isInside(gloveboxHome, root)) return "contains the folder of glovebox's own logs and keys";
  const unreal = UNREAL.find((path) => isInside(root, path));
  if (unreal) return `is below \`${unreal}\`, where there are no files to work on`;
  // `/lib` is a link on most systems, and need not lead to the container's own.
  return whyNeeded(root) ?? whyNeeded(given);
}

function whyNeeded(path: string): string | undefined {
  const held = [...NEEDED, ...CLOSED].find((needed) => isInside(needed, path));
  if (held) return `holds \`${held}\`, which the container or its engine needs for itself`;
  const above = CLOSED.find((closed) => isInside(path, closed));
  if (above) return `is in \`${above}\`, which the container or its engine needs for itself`;
  return undefined;
}

/** Whether `path` is `folder` or below it, by components. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

async function resolveForbidden({ userHome, gloveboxHome }: Forbidden): Promise<Forbidden> {
  const real = (path: string): Promise<string> => realpath(path).catch(() => path);
  return { userHome: await real(userHome), gloveboxHome: await real(gloveboxHome) };
}

function refused(dir: string, why: string): GloveboxError {
  return new GloveboxError("WORKSPACE_REFUSED", `Workspace \`${dir}\` ${why}`, {
    hint: "Choose the folder of one project: `--workspace DIR`",
  });
}
