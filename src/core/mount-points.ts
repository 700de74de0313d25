import { readFile } from "node:fs/promises";

/** A line of mountinfo: which mount, where, and with which options of the mount itself (`ro,nosuid`). */
export type MountPoint = { id: string; path: string; options: string; readOnly: boolean };

export async function readMounts(): Promise<MountPoint[]> {
  return parseMounts(await readFile("/proc/self/mountinfo", "utf8"));
}

/** Parses `/proc/PID/mountinfo` (proc(5)); later lines lie over earlier ones at the same path. */
export function parseMounts(text: string): MountPoint[] {
  return text.split("\n").flatMap((line) => {
    const [id = "", , , , path, options] = line.split(" ");
    if (path === undefined || options === undefined) return [];
    return [{ id, path: unescapeOctal(path), options, readOnly: options.split(",").includes("ro") }];
  });
}

/** The mount exactly at `path`, the topmost where several are stacked. */
export function mountAt(mounts: readonly MountPoint[], path: string): MountPoint | undefined {
  return mounts.findLast((mount) => mount.path === path);
}

/** The kernel writes blank, tab, newline and backslash as three octal digits of a byte. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
