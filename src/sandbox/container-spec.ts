import type Docker from "dockerode";
import { IDLE_USER } from "../core/idle-user.ts";
import { HOME, RUNTIME_ROOT, SELF_NAME } from "./places.ts";

/** A path from outside, as it is mounted. Both paths absolute; `source` resolved on the host, no link on the way. */
export type Mount = { source: string; target: string; readOnly: boolean };

/** A path that is covered by something empty and read-only. */
export type Cover = { target: string; kind: "file" | "folder" };

export type ContainerLimits = { cpus: number; memoryBytes: number; pids: number; tmpBytes: number };

export type ContainerSpec = {
  name: string;
  labels: Record<string, string>;
  /** The image by id, so that a tag moved meanwhile changes nothing. */
  imageId: string;
  /** The image's own environment (`NAME=value`), every variable of which is removed. */
  imageEnv: readonly string[];
  user: { uid: number; gid: number };
  mounts: readonly Mount[];
  covers: readonly Cover[];
  /** An empty file of ours on the host, to cover files with. */
  emptyFile: string;
  /** Files of ours on the host, mounted over the image's. */
  identity: { passwd: string; group: string };
  runtimeVolume: string;
  /** The idle program, inside the runtime volume. */
  idlePath: string;
  /** For each `VOLUME` of the image a volume of ours, or `tmpfs` beyond sixteen. */
  imageVolumes: readonly { target: string; volume: string | "tmpfs" }[];
  limits: ContainerLimits;
  /** The seccomp profile, in the form the engine takes it. */
  seccomp: string;
  /** The OCI runtime by the engine's name for it; undefined is the engine's own choice. */
  runtime: string | undefined;
  /** False where the engine has no cgroup namespaces. */
  privateCgroup: boolean;
  /** The engine confines by SELinux labels, which would keep the container from the workspace. */
  selinux: boolean;
};

/** Processes a sandbox needs besides the agent's: init, idle, tool host with its threads. */
const OWN_PIDS = 32;
/** One page: nothing is ever written there. */
const EMPTY_BYTES = 4096;
/** Files a process may hold open: as generous as common engines, and finite. */
const OPEN_FILES = 16_384;

/** Exactly how the container is made; nothing else sets an option of it. */
export function createOptions(spec: ContainerSpec): Docker.ContainerCreateOptions {
  return {
    name: spec.name,
    Image: spec.imageId,
    Hostname: SELF_NAME,
    User: `${IDLE_USER}:${IDLE_USER}`,
    // A bare name removes the image's variable.
    Env: spec.imageEnv.map(variableName),
    Entrypoint: [spec.idlePath],
    // Not empty, or an engine would put the image's command there; the idle program takes no argument.
    Cmd: ["idle"],
    WorkingDir: "/",
    Healthcheck: { Test: ["NONE"] },
    StopSignal: "SIGKILL",
    AttachStdin: false,
    OpenStdin: false,
    Tty: false,
    Labels: spec.labels,
    HostConfig: hostConfig(spec),
  };
}

function hostConfig(spec: ContainerSpec): Docker.HostConfig {
  return {
    ...isolation(spec),
    ...network(),
    ...resources(spec.limits),
    Mounts: mounts(spec),
    Tmpfs: temporary(spec),
    RestartPolicy: { Name: "no" },
    LogConfig: { Type: "none", Config: {} },
  };
}

function isolation({ seccomp, runtime, privateCgroup, selinux }: ContainerSpec): Docker.HostConfig {
  return {
    ...(runtime !== undefined && { Runtime: runtime }),
    Privileged: false,
    CapDrop: ["ALL"],
    CapAdd: [],
    SecurityOpt: ["no-new-privileges:true", `seccomp=${seccomp}`, ...(selinux ? ["label=disable"] : [])],
    ReadonlyRootfs: true,
    IpcMode: "private",
    ...(privateCgroup && { CgroupnsMode: "private" as const }),
    PidMode: "",
    UTSMode: "",
    Init: true,
    Devices: [],
    GroupAdd: [],
  };
}

/** No interface but `lo`; names are answered inside or not at all. */
function network(): Docker.HostConfig {
  return {
    NetworkMode: "none",
    Dns: ["127.0.0.1"],
    DnsSearch: ["."],
    DnsOptions: ["ndots:0"],
    ExtraHosts: [`${SELF_NAME}:127.0.0.1`],
    Sysctls: {
      "net.ipv4.ip_unprivileged_port_start": "0",
      "net.ipv6.conf.all.disable_ipv6": "0",
      "net.ipv6.conf.lo.disable_ipv6": "0",
    },
  };
}

function resources({ cpus, memoryBytes, pids }: ContainerLimits): Docker.HostConfig {
  return {
    Memory: memoryBytes,
    MemorySwap: memoryBytes,
    NanoCpus: Math.round(cpus * 1e9),
    PidsLimit: pids + OWN_PIDS,
    Ulimits: [
      // 1 and not 0: a core handler behind a pipe ignores 0.
      { Name: "core", Soft: 1, Hard: 1 },
      { Name: "nofile", Soft: OPEN_FILES, Hard: OPEN_FILES },
    ],
  };
}

/** The `pids` limit the container's cgroup ends up with. */
export function pidsLimit(limits: ContainerLimits): number {
  return limits.pids + OWN_PIDS;
}

function mounts(spec: ContainerSpec): Docker.MountSettings[] {
  const { identity, covers, emptyFile } = spec;
  const files: Mount[] = [
    { source: identity.passwd, target: "/etc/passwd", readOnly: true },
    { source: identity.group, target: "/etc/group", readOnly: true },
  ];
  return [...spec.mounts, ...files]
    .map(bind)
    .concat(covers.map((cover) => coverMount(cover, emptyFile)))
    .concat([
      volume(spec.runtimeVolume, RUNTIME_ROOT, true),
      ...spec.imageVolumes.flatMap((item) =>
        item.volume === "tmpfs" ? [] : [volume(item.volume, item.target, false)],
      ),
    ]);
}

function bind({ source, target, readOnly }: Mount): Docker.MountSettings {
  return { Type: "bind", Source: source, Target: target, ReadOnly: readOnly, BindOptions: { Propagation: "rprivate" } };
}

function coverMount({ target, kind }: Cover, emptyFile: string): Docker.MountSettings {
  if (kind === "file") return bind({ source: emptyFile, target, readOnly: true });
  return {
    Type: "tmpfs",
    Source: "",
    Target: target,
    ReadOnly: true,
    TmpfsOptions: { SizeBytes: EMPTY_BYTES, Mode: 0o555 },
  };
}

/** Ours hold what we put there; an image's keeps what the image had at that path. */
function volume(name: string, target: string, ours: boolean): Docker.MountSettings {
  return {
    Type: "volume",
    Source: name,
    Target: target,
    ReadOnly: ours,
    VolumeOptions: { NoCopy: ours, Labels: {}, DriverConfig: { Name: "local", Options: {} } },
  };
}

function temporary({ user, limits, imageVolumes }: ContainerSpec): Record<string, string> {
  const { tmp, home, run, shm } = temporarySizes(limits);
  const owner = `uid=${user.uid},gid=${user.gid}`;
  const spare = imageVolumes.filter((item) => item.volume === "tmpfs");
  return {
    "/tmp": `rw,exec,nosuid,nodev,size=${tmp},mode=1777,${owner}`,
    [HOME]: `rw,exec,nosuid,nodev,size=${home},mode=0700,${owner}`,
    "/run": `rw,noexec,nosuid,nodev,size=${run},mode=0755,${owner}`,
    "/dev/shm": `rw,noexec,nosuid,nodev,size=${shm},mode=1777,${owner}`,
    ...Object.fromEntries(spare.map(({ target }) => [target, `rw,exec,nosuid,nodev,size=${run},mode=0755,${owner}`])),
  };
}

/** Sizes in bytes of the four temporary file systems: what they hold counts as memory, so together at most half of it. */
export function temporarySizes({
  tmpBytes,
  memoryBytes,
}: ContainerLimits): Record<"tmp" | "home" | "run" | "shm", number> {
  const wanted = { tmp: tmpBytes, home: tmpBytes / 2, run: tmpBytes / 4, shm: tmpBytes / 16 };
  const total = Object.values(wanted).reduce((sum, size) => sum + size, 0);
  const scale = Math.min(1, memoryBytes / 2 / total);
  const size = (bytes: number): number => Math.floor(bytes * scale);
  return { tmp: size(wanted.tmp), home: size(wanted.home), run: size(wanted.run), shm: size(wanted.shm) };
}

function variableName(entry: string): string {
  const at = entry.indexOf("=");
  return at < 0 ? entry : entry.slice(0, at);
}
