import { execFileSync } from "node:child_process";
import { appendFile, chmod, chown, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const PICTURE_BYTES = 19 * 1024 * 1024;

/** The frame of a PNG of so many bytes around nothing. */
export function pngOf(bytes: number): Buffer {
  const png = Buffer.alloc(bytes);
  png.write("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08", 0, "latin1");
  png.writeUInt32BE(bytes - 33 - 24, 33);
  png.write("IDAT", 37);
  png.write("IEND", bytes - 8);
  return png;
}

/** Relative, so long that with the workspace in front it is just possible. */
export function deepPath(root: string): string {
  const room = 4000 - Buffer.byteLength(root) - "/long/".length;
  const parts = Array.from({ length: Math.floor(room / 200) }, () => "d".repeat(199));
  return `long/${parts.join("/")}`;
}

/** Made from outside: an image need not have a program for it. */
export async function plantOddFiles(root: string): Promise<void> {
  const put = async (name: string, content: string | Buffer): Promise<void> => {
    await mkdir(join(root, name, ".."), { recursive: true });
    await writeFile(join(root, name), content);
  };
  await put("pictures/large.png", pngOf(PICTURE_BYTES));
  await put("pictures/cut.png", pngOf(PICTURE_BYTES).subarray(0, 4096));
  await put("special/plain", "needle\n");
  await put("special/closed", "needle\n");
  await put("special/closed-folder/f", "needle\n");
  execFileSync("mkfifo", [join(root, "special/fifo")]);
  for (const [name, target] of [
    ["link", "fifo"],
    ["broken", "nowhere"],
    ["loop", "loop"],
    ["folder", "."],
  ] as const) {
    await symlink(target, join(root, "special", name));
  }
  await put("dash/x.sh", "#!/bin/sh\ntouch PWNED\n\n");
  await put("dash/-v", "a->b\n");
  await chmod(join(root, "dash/x.sh"), 0o755);
  await put("rules/.gitignore", "dist/\n");
  await put("rules/dist/app.js", "needle\n");
  await put("rules/venv/.gitignore", "*\n");
  await put("rules/venv/b.py", "");
  await put("rules/src/a.py", "");
  await put("rules/.env.example", "");
  await put("lines/three.min.js", `${"x".repeat(700_000)}stats${"y".repeat(700_000)}\n`);
  await put("lines/a.so", Buffer.from("\x7fELF\0\0stats\nstats\n", "latin1"));
  await put("lines/huge", Buffer.concat([Buffer.alloc(157_000_000, "x"), Buffer.from("stats\n")]));
  for (const name of ["a\nb", " lead", "--", "-rf", "x;y", "\u001b[31mred"]) await put(`names/${name}`, "needle\n");
  await writeFile(Buffer.concat([Buffer.from(`${root}/names/`), Buffer.from("caf\xe9", "latin1")]), "needle\n");
  await put(`${deepPath(root)}/f`, "needle\n");
  await put("sparse", "line\n".repeat(4000));
  await truncate(join(root, "sparse"), 20 * 1024 ** 3);
  await put("far", "line\n".repeat(4000));
  await truncate(join(root, "far"), 2 * 1024 ** 3);
  await appendFile(join(root, "far"), "\nlast\n");
  await chmod(join(root, "special/closed"), 0);
  await chmod(join(root, "special/closed-folder"), 0);
  // The sandbox works as whoever owns the workspace; root would be kept from nothing.
  if (process.getuid?.() === 0) await chown(root, 12_345, 12_345);
}
