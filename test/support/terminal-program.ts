import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SOURCE = join(import.meta.dirname, "../../images/runtime/terminal.c");

/** The program of the runtime image that holds terminals, compiled for this machine. */
export function terminalProgram(): string {
  const hash = createHash("sha256").update(readFileSync(SOURCE)).digest("hex").slice(0, 12);
  const path = join(tmpdir(), `glovebox-terminal-${hash}-${process.getuid?.()}`);
  if (existsSync(path)) return path;
  // Test files run side by side; a rename is whole or not at all.
  const made = `${path}-${process.pid}`;
  execFileSync("cc", ["-O2", "-o", made, SOURCE]);
  renameSync(made, path);
  return path;
}
