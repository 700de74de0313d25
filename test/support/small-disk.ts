import { execFileSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemCode } from "../../src/core/errors.ts";

/** A file system of a quarter of a megabyte that a test can fill. Needs root. */
export class SmallDisk implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<SmallDisk> {
    const path = await mkdtemp(join(tmpdir(), "glovebox-disk-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "glovebox-test", path]);
    return new SmallDisk(path);
  }

  /** Takes all that is free, at once. */
  fill(): void {
    const file = openSync(join(this.path, "filler"), "a");
    try {
      for (;;) writeSync(file, Buffer.alloc(4096));
    } catch (error) {
      if (systemCode(error) !== "ENOSPC") throw error;
    } finally {
      closeSync(file);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    execFileSync("umount", [this.path]);
    await rm(this.path, { recursive: true });
  }
}
