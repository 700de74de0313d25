import { closeSync, openSync, readSync } from "node:fs";

/** Far above what the kernel writes of one process or one counter. */
const bytes = Buffer.allocUnsafeSlow(16 * 1024);

/**
 * The first 16 KiB of a file of the kernel's, as latin1; undefined when it cannot be read. `readFileSync` takes 64 KiB of
 * new memory for each, since they say to have no size, and every command reads dozens.
 */
export function readSmallFile(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    return bytes.toString("latin1", 0, readSync(fd, bytes));
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
