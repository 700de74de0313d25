import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const cli = join(root, "dist/bin/glovebox.mjs");

/** Engine tests need `dist/`, an engine and the images; `npm test` has made them, and without them nothing is skipped. */
export default function setup(): void {
  if (!existsSync(cli)) throw new Error("dist/ is not there: run `npm test`, or `npm run build` first");
  execFileSync(process.execPath, [cli, "image", "build"], { stdio: ["ignore", "ignore", "inherit"] });
}
