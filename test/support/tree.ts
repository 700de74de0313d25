import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Every file and folder below `root`, itself included, with mode, owner and size, as `ls -laR` shows them. */
export async function treeOf(root: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true });
  const lines = [".", ...names.toSorted()].map(async (name) => {
    const { mode, uid, gid, size, nlink, mtimeMs } = await lstat(join(root, name));
    return `${mode.toString(8)} ${nlink} ${uid}:${gid} ${size} ${mtimeMs} ${name}`;
  });
  return Promise.all(lines);
}
