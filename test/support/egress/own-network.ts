import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { type CliOptions, cliPath, type Ended, startProgram } from "../engine.ts";
import { Authority } from "./authority.ts";
import type { AnswerTable, OutsideCommand, Seen } from "./outside-words.ts";

/** The only public address there. */
export const PUBLIC = "93.184.216.34";

/**
 * A network and mount namespace with a name server, a public address and a proxy, in which the command line runs as on
 * any machine, with its own resolver and sockets. Needs to be root. The engine is reached by its socket in the file system.
 */
export class OwnNetwork implements AsyncDisposable {
  readonly authority: Authority;
  readonly #folder: string;
  readonly #holder: ChildProcess;
  #outside: ChildProcess | undefined;
  #commands = 0;

  private constructor(authority: Authority, folder: string, holder: ChildProcess) {
    this.authority = authority;
    this.#folder = folder;
    this.#holder = holder;
  }

  static async start(names: readonly string[]): Promise<OwnNetwork> {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-network-"));
    await writeFile(join(folder, "resolv.conf"), "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n");
    const script = `set -e; ip link set lo up; ip addr add ${PUBLIC}/32 dev lo
mount --bind ${join(folder, "resolv.conf")} "$(readlink -f /etc/resolv.conf)"; echo ready; exec sleep infinity`;
    const holder = spawn("unshare", ["-n", "-m", "sh", "-c", script], { stdio: ["ignore", "pipe", "inherit"] });
    const network = new OwnNetwork(await Authority.create(), folder, holder);
    const [words] = (await once(holder.stdout, "data")) as [Buffer];
    if (!words.toString().startsWith("ready")) throw new Error(`The network did not start: ${words}`);
    await network.#startOutside(names);
    return network;
  }

  async #startOutside(names: readonly string[]): Promise<void> {
    const outfile = join(this.#folder, "outside.mjs");
    const banner = {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    };
    const entryPoints = [join(import.meta.dirname, "outside.ts")];
    await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", logLevel: "error", banner });
    this.#outside = spawn("nsenter", this.#enter(process.execPath, outfile), {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    await this.#send({ start: { address: PUBLIC, identity: await this.authority.certify(names) } });
  }

  #enter(...command: string[]): string[] {
    return ["-t", String(this.#holder.pid), "-n", "-m", "--", ...command];
  }

  /** Sets what names resolve to, and gives what was seen since the last time. */
  answer(answers: AnswerTable): Promise<Seen> {
    return this.#send({ answers });
  }

  /** What was seen since the last time. */
  take(): Promise<Seen> {
    return this.#send({});
  }

  async #send(command: Omit<OutsideCommand, "id">): Promise<Seen> {
    const id = ++this.#commands;
    this.#outside?.send({ ...command, id });
    for (;;) {
      const [reply] = (await once(this.#outside ?? this.#holder, "message")) as [{ id: number; seen: Seen }];
      if (reply.id === id) return reply.seen;
    }
  }

  /** Runs the command line there. */
  cli(args: readonly string[], options: CliOptions = {}): Promise<Ended> {
    return startProgram("nsenter", this.#enter(process.execPath, cliPath, ...args), options).ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of [this.#outside, this.#holder]) {
      if (!child || child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}
