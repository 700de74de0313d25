import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** The bundled local tool host, for {@link openLocalSandbox}. */
    localToolHost: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-test-"));
  const outfile = join(folder, "local-tool-host.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "local-tool-host.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile,
    logLevel: "error",
  });
  project.provide("localToolHost", outfile);
  return () => rm(folder, { recursive: true, force: true });
}
