import type { ContainerSpec } from "../../src/sandbox/container-spec.ts";

const GIB = 1024 ** 3;

/** A spec as a session makes it, with an image that brings everything an image can bring. */
export function sampleSpec(changes: Partial<ContainerSpec> = {}): ContainerSpec {
  return {
    name: "glovebox-sample",
    labels: { glovebox: "0.0.0", "glovebox.session": "s" },
    imageId: "sha256:abc",
    imageEnv: ["PATH=/evil", "LD_PRELOAD=/evil.so", "EMPTY"],
    user: { uid: 1000, gid: 1001 },
    mounts: [
      { source: "/home/ann/re:po, x", target: "/home/ann/re:po, x", readOnly: false },
      { source: "/home/ann/re:po, x/.git", target: "/home/ann/re:po, x/.git", readOnly: true },
    ],
    covers: [
      { target: "/home/ann/re:po, x/.env", kind: "file" },
      { target: "/home/ann/re:po, x/secrets", kind: "folder" },
    ],
    emptyFile: "/c/empty",
    identity: { passwd: "/c/passwd", group: "/c/group" },
    runtimeVolume: "glovebox-runtime-1",
    idlePath: "/opt/glovebox/bin/idle",
    imageVolumes: [
      { target: "/data", volume: "glovebox-sample-0" },
      { target: "/more", volume: "tmpfs" },
    ],
    limits: { cpus: 1.5, memoryBytes: 4 * GIB, pids: 512, tmpBytes: GIB },
    seccomp: "{}",
    runtime: undefined,
    privateCgroup: true,
    selinux: false,
    ...changes,
  };
}
