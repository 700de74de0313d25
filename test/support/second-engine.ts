import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Docker from "dockerode";
import type { Engine } from "../../src/sandbox/engine/engine.ts";
import { orMissing } from "../../src/sandbox/engine/status.ts";
import { readPlan } from "../../src/sandbox/images/plan.ts";
import { packageRoot } from "./engine.ts";

/**
 * An engine of its own for tests that stop one: its own data, socket, network and mount namespace. It does not see what
 * is in {@link SecondEngine.hidden}, as an engine on another machine would not.
 */
export class SecondEngine implements AsyncDisposable {
  readonly folder: string;
  /** A folder of the host that this engine sees empty. */
  readonly hidden: string;
  #daemon: ChildProcess | undefined;

  private constructor(folder: string) {
    this.folder = folder;
    this.hidden = join(folder, "hidden");
  }

  /** Starts one with the images of `first`. Needs root. */
  static async create(first: Engine): Promise<SecondEngine> {
    const engine = new SecondEngine(await mkdtemp(join(tmpdir(), "glovebox-second-")));
    await mkdir(engine.hidden);
    await engine.start();
    await engine.#copyImages(first);
    return engine;
  }

  get socket(): string {
    return join(this.folder, "engine.sock");
  }

  /** As a value of DOCKER_HOST. */
  get host(): string {
    return `unix://${this.socket}`;
  }

  async start(): Promise<void> {
    const options = {
      "data-root": join(this.folder, "data"),
      "exec-root": join(this.folder, "exec"),
      pidfile: join(this.folder, "pid"),
      host: this.host,
      bridge: "none",
      iptables: "false",
      ip6tables: "false",
      "ip-forward": "false",
      "ip-masq": "false",
    };
    const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    // A killed daemon leaves them, and the next one waits for whoever has those pids, a zombie too.
    const stale = ["pid", "exec/containerd/containerd.pid"].map((name) => join(this.folder, name));
    const start = `mount -t tmpfs none "$0" && ip link set lo up && rm -f ${stale.join(" ")} && exec dockerd "$@"`;
    const log = await open(join(this.folder, "log"), "a");
    this.#daemon = spawn("unshare", ["--net", "--mount", "sh", "-c", start, this.hidden, ...words], {
      stdio: ["ignore", log.fd, log.fd],
      env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
    });
    await log.close();
    await this.#answers();
  }

  /** Ends the daemon, not the containers: `SIGTERM` lets it do that, `SIGKILL` does not. */
  async stop(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const daemon = this.#daemon;
    if (!daemon || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const ended = once(daemon, "exit");
    daemon.kill(signal);
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGTERM");
    // What a killed daemon has left: its containerd, and the shims with the containers below them.
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      for (const pid of this.#processes()) process.kill(pid, signal);
      for (let round = 0; round < 50 && this.#processes().length > 0; round++) await sleep(50);
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  #processes(): number[] {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== process.pid && commandOf(pid).includes(join(this.folder, "exec")));
  }

  async #answers(): Promise<void> {
    for (let round = 0; round < 600; round++) {
      if (existsSync(this.socket) && (await ping(this.socket))) return;
      if (this.#daemon?.exitCode != null) break;
      await sleep(50);
    }
    throw new Error(
      `The second engine did not start:\n${(await readFile(join(this.folder, "log"), "utf8")).slice(-2000)}`,
    );
  }

  /** The smallest set that a session takes for whole: a plain Debian in the base image's place, and the runtime. */
  async #copyImages({ docker: first, architecture }: Engine): Promise<void> {
    const { baseRef, runtimeRef } = readPlan({ packageRoot, cacheDir: "", version: "" }, architecture);
    const debian = `glovebox/debian:bookworm-${architecture}`;
    const system = (await orMissing(first.getImage(debian).inspect())) ? debian : baseRef;
    const second = new Docker({ socketPath: this.socket });
    for (const ref of [system, runtimeRef]) {
      const loading = await second.loadImage(await first.getImage(ref).get());
      await new Promise((resolve) => second.modem.followProgress(loading, resolve));
    }
    const [repo = "", tag = ""] = baseRef.split(":");
    await second.getImage(system).tag({ repo, tag });
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function ping(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ socketPath, path: "/_ping", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("error", () => resolve(false));
  });
}
