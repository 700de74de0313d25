import { createHash } from "node:crypto";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../core/atomic-file.ts";

/** The path of a file with this text, named by its content in the cache; made when it is not there yet. */
export async function keptFile(text: string, cacheDir: string): Promise<string> {
  const path = join(cacheDir, "files", createHash("sha256").update(text).digest("hex").slice(0, 24));
  const there = await access(path).then(
    () => true,
    () => false,
  );
  if (!there) await writeAtomically(path, text, 0o644);
  return path;
}
