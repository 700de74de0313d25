import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { GloveboxError, systemCode } from "../core/errors.ts";
import { liesWhereNamed } from "../workspace/read-data.ts";

/** What a policy is made from: exactly these bytes are hashed, shown and parsed. */
export type PolicyBytes = { file: string; bytes: Buffer };

/** Where a project keeps its policy, below the workspace. */
export const PROJECT_POLICY = ".glovebox/policy.yaml";

const MAX_BYTES = 1024 * 1024;

/** A file somebody named: that it is missing is an error, never "no policy". @throws GloveboxError `CONFIG_INVALID`. */
export async function readNamed(path: string, shown: string): Promise<PolicyBytes> {
  const found = await readIfThere(path, shown);
  if (!found)
    throw unreadable(shown, "there is no such file", "Name a policy file or a preset, such as `--policy strict`");
  return found;
}

/** A file that need not exist. All else that keeps it from being read is an error, a dangling link too. */
export async function readIfThere(path: string, shown: string): Promise<PolicyBytes | undefined> {
  return read(path, shown, constants.O_RDONLY | constants.O_NONBLOCK);
}

/**
 * The policy of a workspace, read as data: no link is followed, neither at the end nor on the way.
 * @throws GloveboxError `CONFIG_INVALID`.
 */
export async function readProject(root: string): Promise<PolicyBytes | undefined> {
  const path = join(root, PROJECT_POLICY);
  await refuseLink(dirname(path));
  const found = await read(path, path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  await refuseLink(dirname(path));
  return found;
}

async function read(path: string, shown: string, flags: number): Promise<PolicyBytes | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, flags);
    if (flags & constants.O_NOFOLLOW && !(await liesWhereNamed(file, path)))
      throw unreadable(path, "it lies behind a symbolic link, which is not followed");
    const stat = await file.stat();
    if (stat.isDirectory()) throw unreadable(shown, "it is a directory; expected a YAML file");
    if (!stat.isFile()) throw unreadable(shown, "it is not a regular file");
    return { file: shown, bytes: await readAtMost(file, shown) };
  } catch (thrown) {
    if (thrown instanceof GloveboxError) throw thrown;
    const code = systemCode(thrown);
    if ((code === "ENOENT" || code === "ENOTDIR") && !(await isLink(path))) return undefined;
    throw unreadable(shown, REASONS[code ?? ""] ?? `it cannot be read (${code})`);
  } finally {
    await file?.close();
  }
}

const REASONS: Record<string, string> = {
  ENOENT: "it is a link to nothing",
  ELOOP: "it is a symbolic link, which is not followed",
  EACCES: "it cannot be read by you",
};

/** The size a file says it has is no promise. */
async function readAtMost(file: FileHandle, shown: string): Promise<Buffer> {
  const buffer = Buffer.alloc(MAX_BYTES + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) return Buffer.from(buffer.subarray(0, length));
    length += bytesRead;
  }
  throw unreadable(shown, "it has more than 1 MiB");
}

/** @throws GloveboxError `CONFIG_INVALID` for a link. */
export async function refuseLink(folder: string): Promise<void> {
  if (await isLink(folder)) throw unreadable(folder, "it is a symbolic link, which is not followed");
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (info) => info.isSymbolicLink(),
    () => false,
  );
}

function unreadable(shown: string, problem: string, hint?: string): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `Policy \`${shown}\`: ${problem}`, {
    hint: hint ?? "Nothing was started: without this file the policy could be weaker than meant",
  });
}
