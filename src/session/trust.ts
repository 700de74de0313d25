import { createHash } from "node:crypto";
import { join } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { writeAtomically } from "../core/atomic-file.ts";
import { GloveboxError } from "../core/errors.ts";
import type { Home } from "./home.ts";
import { type PolicyBytes, readIfThere } from "./policy-file.ts";

const trustFile = z.strictObject({
  version: z.literal(1),
  trusted: z.array(z.strictObject({ path: z.string(), sha256: z.string().regex(/^[\da-f]{64}$/) })),
});
type TrustFile = z.infer<typeof trustFile>;

export function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Whether the person has taken exactly these bytes at this path as their own words. */
export async function isTrusted(home: Home, { file, bytes }: PolicyBytes): Promise<boolean> {
  const { trusted } = await readTrust(home);
  return trusted.some(({ path, sha256 }) => path === file && sha256 === hashOf(bytes));
}

/** Trusts exactly these bytes; what was trusted at that path before no longer is. */
export async function trust(home: Home, { file, bytes }: PolicyBytes): Promise<void> {
  const { trusted } = await readTrust(home);
  const others = trusted.filter(({ path }) => path !== file);
  await writeTrust(home, [...others, { path: file, sha256: hashOf(bytes) }]);
}

/** Gives whether there was anything to take back. */
export async function untrust(home: Home, file: string): Promise<boolean> {
  const { trusted } = await readTrust(home);
  const others = trusted.filter(({ path }) => path !== file);
  if (others.length === trusted.length) return false;
  await writeTrust(home, others);
  return true;
}

async function writeTrust(home: Home, trusted: TrustFile["trusted"]): Promise<void> {
  // JSON is YAML, and needs no quoting rules for paths.
  const lines = trusted.map((entry) => `  - ${JSON.stringify(entry)}\n`);
  const list = lines.length === 0 ? "trusted: []\n" : `trusted:\n${lines.join("")}`;
  await writeAtomically(pathIn(home), `version: 1\n${list}`, 0o600);
}

async function readTrust(home: Home): Promise<TrustFile> {
  const path = pathIn(home);
  const found = await readIfThere(path, path);
  if (!found) return { version: 1, trusted: [] };
  try {
    return trustFile.parse(parse(found.bytes.toString("utf8"), { maxAliasCount: 0 }));
  } catch (cause) {
    throw new GloveboxError("CONFIG_INVALID", `\`${path}\` is not what \`glovebox policy trust\` writes`, {
      hint: "Remove it, and trust again what you still trust",
      cause,
    });
  }
}

function pathIn({ root }: Home): string {
  return join(root, "trust.yaml");
}
