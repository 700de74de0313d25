import type Docker from "dockerode";
import type { Helper, HelperEnd, HelperJob } from "../core/helper.ts";
import { IDLE_USER } from "../core/idle-user.ts";
import { headBytes } from "../core/truncate.ts";
import { demultiplex } from "./channel.ts";
import { startFailure } from "./container.ts";
import { createContainer, removeContainer } from "./engine/containers.ts";
import type { Engine } from "./engine/engine.ts";
import { lost } from "./lost.ts";
import { probeLabels } from "./owner.ts";
import { RUNTIME_ROOT } from "./places.ts";
import { seccompOption } from "./seccomp/option.ts";

export type HelperOptions = {
  /** Ours: somebody else's could load code into the command. */
  imageId: string;
  /** Mounted read-only at its place. */
  runtimeVolume: string;
  version: string;
  cacheDir: string;
};

const TIME_MS = 60_000;
const STDOUT_BYTES = 1024 * 1024;
const STDERR_BYTES = 4 * 1024;

/** A {@link Helper} that works in containers of this engine. */
export function createHelper(engine: Engine, options: HelperOptions): Helper {
  return {
    run: async (job) => {
      const seccomp = await seccompOption(engine, { ptrace: false }, options.cacheDir);
      const labels = await probeLabels(options.version);
      const create = helperOptions(job, { ...options, seccomp, selinux: engine.hasSelinux, labels });
      const container = await createContainer(engine.docker, create, "glovebox-probe").catch((error: unknown) => {
        throw startFailure(error);
      });
      try {
        return await runToEnd(container);
      } finally {
        await removeContainer(container);
      }
    },
  };
}

type Surroundings = HelperOptions & { seccomp: string; selinux: boolean; labels: Record<string, string> };

/** Pure: exactly how a short container is made. */
export function helperOptions(
  { command, mounts, user = { uid: IDLE_USER, gid: IDLE_USER } }: HelperJob,
  { imageId, runtimeVolume, seccomp, selinux, labels }: Surroundings,
): Docker.ContainerCreateOptions {
  return {
    Image: imageId,
    User: `${user.uid}:${user.gid}`,
    Entrypoint: command.slice(0, 1),
    Cmd: command.slice(1),
    WorkingDir: "/",
    Healthcheck: { Test: ["NONE"] },
    Labels: labels,
    HostConfig: {
      ...closed({ seccomp, selinux }),
      Mounts: [
        ...mounts.map(({ source, target, readOnly }) => ({
          Type: "bind" as const,
          Source: source,
          Target: target,
          ReadOnly: readOnly,
          BindOptions: { Propagation: "rprivate" as const },
        })),
        { Type: "volume", Source: runtimeVolume, Target: RUNTIME_ROOT, ReadOnly: true },
      ],
    },
  };
}

function closed({ seccomp, selinux }: Pick<Surroundings, "seccomp" | "selinux">): Docker.HostConfig {
  return {
    NetworkMode: "none",
    Privileged: false,
    CapDrop: ["ALL"],
    SecurityOpt: ["no-new-privileges:true", `seccomp=${seccomp}`, ...(selinux ? ["label=disable"] : [])],
    ReadonlyRootfs: true,
    IpcMode: "private",
    Init: true,
    Memory: 512 * 1024 ** 2,
    MemorySwap: 512 * 1024 ** 2,
    NanoCpus: 1e9,
    PidsLimit: 64,
    Ulimits: [{ Name: "core", Soft: 1, Hard: 1 }],
    Tmpfs: { "/tmp": "rw,noexec,nosuid,nodev,size=64m,mode=1777" },
    RestartPolicy: { Name: "no" },
    LogConfig: { Type: "none", Config: {} },
  };
}

async function runToEnd(container: Docker.Container): Promise<HelperEnd> {
  const stream = await container.attach({ stream: true, stdout: true, stderr: true });
  const [stdout, stderr] = [new Text(STDOUT_BYTES), new Text(STDERR_BYTES)];
  demultiplex(stream, { stdout: (bytes) => stdout.add(bytes), stderr: (bytes) => stderr.add(bytes) });
  const drained = new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) stream.on(event, () => resolve());
  });
  await container.start().catch((error: unknown) => {
    throw startFailure(error);
  });
  const end: { StatusCode: number } = await inTime(container.wait());
  await drained;
  return { exitCode: end.StatusCode, stdout: stdout.text, stderr: stderr.text };
}

/** The beginning of what is printed; the rest is read and dropped. */
class Text {
  readonly #most: number;
  #bytes = Buffer.alloc(0);

  constructor(most: number) {
    this.#most = most;
  }

  get text(): string {
    return headBytes(this.#bytes.toString("utf8"), this.#most);
  }

  add(bytes: Buffer): true {
    if (this.#bytes.length < this.#most) this.#bytes = Buffer.concat([this.#bytes, bytes]);
    return true;
  }
}

async function inTime<T>(end: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(lost(`A command of ours did not end within ${TIME_MS / 1000} s`)), TIME_MS);
  });
  try {
    return await Promise.race([end, late]);
  } finally {
    clearTimeout(timer);
  }
}
