import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GloveboxError, systemCode } from "../../core/errors.ts";
import type { Architecture } from "../engine/facts.ts";
import { ARCHITECTURES } from "./runtime-paths.ts";

/** Where the files of this package and of its cache are. */
export type ImageInputs = {
  /** Holds `images/` and `dist/toolhost.mjs`. */
  packageRoot: string;
  /** For downloads, locks and notes; made when missing. */
  cacheDir: string;
  /** glovebox's own, for labels. */
  version: string;
};

/** Exact versions of what is not a Debian package, with the integrity npm gives for their tarballs. */
export type Pins = {
  debian: { suite: string; image: string };
  node: { version: string } & Record<Architecture, string>;
  npm: { version: string; integrity: string };
};

/** Names of all that is built, each with the hash of its inputs, and the inputs themselves. */
export type ImagePlan = {
  architecture: Architecture;
  pins: Pins;
  baseRef: string;
  runtimeRef: string;
  volume: string;
  /** The tool host's program; undefined when it has not been built. */
  bundle: Buffer | undefined;
  /** File name to PEM text: certificates this machine trusts beyond the usual ones. */
  certificates: Map<string, string>;
};

/** Raise it when the way images are built changes without a change of their files. */
const FORMAT = "2";

const BASE_FILES = ["Dockerfile", "packages.txt", "with-apt.sh", "install.sh"];
const RUNTIME_FILES = ["Dockerfile", "assemble.sh", "idle.c", "probe.c", "attempt.c", "terminal.c"];

/** Reads the inputs, about 1 ms: it is on the way of every start. */
export function readPlan({ packageRoot }: ImageInputs, architecture: Architecture): ImagePlan {
  const read = (folder: string, names: string[]) =>
    names.map((name): [string, Buffer] => [name, readFileSync(join(packageRoot, "images", folder, name))]);
  return planImages({
    architecture,
    pins: readFileSync(join(packageRoot, "images/pins.json")),
    base: read("base", BASE_FILES),
    runtime: read("runtime", RUNTIME_FILES),
    bundle: readIfThere(join(packageRoot, "dist/toolhost.mjs")),
    certificates: readCertificates(),
  });
}

export type PlanFiles = {
  architecture: Architecture;
  pins: Buffer;
  base: [string, Buffer][];
  runtime: [string, Buffer][];
  bundle: Buffer | undefined;
  certificates: Map<string, string>;
};

/** Pure: the names that follow from the inputs. */
export function planImages(files: PlanFiles): ImagePlan {
  const { architecture, bundle, certificates } = files;
  const baseHash = hash(FORMAT, architecture, files.pins, ...files.base.flat(), ...[...certificates].flat());
  const runtimeHash = hash(baseHash, ARCHITECTURES[architecture].loader, ...files.runtime.flat());
  return {
    architecture,
    pins: JSON.parse(files.pins.toString()),
    baseRef: `glovebox/base:${baseHash}`,
    runtimeRef: `glovebox/runtime:${runtimeHash}`,
    volume: `glovebox-runtime-${hash(runtimeHash, bundle ?? "none")}`,
    bundle,
    certificates,
  };
}

/** Each part is hashed with its length before it, so that no two lists of parts look the same. */
function hash(...parts: (string | Buffer)[]): string {
  const sum = createHash("sha256");
  for (const part of parts) sum.update(`${part.length}:`).update(part);
  return sum.digest("hex").slice(0, 12);
}

/** Debian's folder for an administrator's own certificates; other systems have none to read as files. */
const CERTIFICATES_DIR = "/usr/local/share/ca-certificates";

function readCertificates(): Map<string, string> {
  const names = ifThere(() => readdirSync(CERTIFICATES_DIR)) ?? [];
  const found = names.filter((name) => name.endsWith(".crt")).sort();
  return new Map(found.map((name) => [name, readFileSync(join(CERTIFICATES_DIR, name), "utf8")]));
}

function readIfThere(path: string): Buffer | undefined {
  return ifThere(() => readFileSync(path));
}

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The bundle, or `IMAGE_MISSING` when the package has not been built. */
export function requireBundle(plan: ImagePlan): Buffer {
  if (plan.bundle) return plan.bundle;
  throw new GloveboxError("IMAGE_MISSING", "The tool host's program `dist/toolhost.mjs` has not been built", {
    hint: "npm run build",
  });
}
