#!/usr/bin/env node
// Writes docs/policy.md and policies/schema.json from the schema of policies.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "glovebox-reference-"));
try {
  const outfile = join(folder, "reference.mjs");
  const entry = join(root, "test/support/policy-reference.ts");
  await build({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "esm", logLevel: "warning" });
  const { policyJsonSchema, policyReference } = await import(pathToFileURL(outfile).href);
  await writeFile(join(root, "docs/policy.md"), policyReference());
  await writeFile(join(root, "policies/schema.json"), policyJsonSchema());
} finally {
  await rm(folder, { recursive: true, force: true });
}
