import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Absolute path of a program of the host that tests run for real; throws when it is not installed. */
export function programPath(name: "rg" | "bash" | "git"): string {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  throw new Error(`These tests run \`${name}\`, which is not on the PATH; install it (Debian: ripgrep, bash, git)`);
}
