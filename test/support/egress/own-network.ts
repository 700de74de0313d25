import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { type CliOptions, cliPath, type Ended, startProgram } from "../engine.ts";
import { Authority } from "./authority.ts";
import { type AnswerTable, GATEWAY, type OutsideCommand, PRIVATE, type Seen } from "./outside-words.ts";

/** The public address of the site. */
export const PUBLIC = "93.184.216.34";

const LAN = { here: "198.51.100.2", there: GATEWAY };

/** Inside the command line's namespaces; `$1` is the process that holds the other network. */
const HERE = `set -e; ip link set lo up; ip link add out type veth peer name in netns "$1"
ip addr add ${LAN.here}/24 dev out; ip link set out up; ip route add default via ${LAN.there}
mount --bind "$2" "$(readlink -f /etc/resolv.conf)"; echo ready; exec sleep infinity`;
const THERE = "ip link set lo up; echo ready; exec sleep infinity";

/**
 * A machine in a network of its own, as far as the command line sees: a network and mount namespace with its own resolver
 * and sockets, and beyond its router a name server, a site at a public address, a private address and a proxy. Needs to
 * be root. The engine is reached by its socket in the file system.
 */
export class OwnNetwork implements AsyncDisposable {
  readonly authority: Authority;
  readonly #folder: string;
  /** Hold the two networks: this machine's and the one outside. */
  readonly #here: ChildProcess;
  readonly #there: ChildProcess;
  #outside: ChildProcess | undefined;
  #commands = 0;

  private constructor(authority: Authority, folder: string, { here, there }: Record<"here" | "there", ChildProcess>) {
    this.authority = authority;
    this.#folder = folder;
    this.#here = here;
    this.#there = there;
  }

  static async start(names: readonly string[]): Promise<OwnNetwork> {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-network-"));
    const resolver = join(folder, "resolv.conf");
    await writeFile(resolver, `nameserver ${GATEWAY}\noptions timeout:2 attempts:1\n`);
    const there = await hold(["-n"], THERE);
    const here = await hold(["-n", "-m"], HERE, String(there.pid), resolver);
    const network = new OwnNetwork(await Authority.create(), folder, { here, there });
    await promisify(execFile)(
      "nsenter",
      enter(
        there,
        "sh",
        "-c",
        `set -e; ip addr add ${GATEWAY}/24 dev in; ip link set in up
for address in ${PUBLIC} ${PRIVATE}; do ip addr add $address/32 dev lo; done`,
      ),
    );
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
    this.#outside = spawn("nsenter", enter(this.#there, process.execPath, outfile), {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    await this.#send({ start: { address: PUBLIC, identity: await this.authority.certify(names) } });
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
      const [reply] = (await once(this.#outside ?? this.#there, "message")) as [{ id: number; seen: Seen }];
      if (reply.id === id) return reply.seen;
    }
  }

  /** Runs the command line there. */
  cli(args: readonly string[], options: CliOptions = {}): Promise<Ended> {
    return startProgram("nsenter", enter(this.#here, process.execPath, cliPath, ...args), options).ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of [this.#outside, this.#here, this.#there]) {
      if (!child || child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** A process in new namespaces, which keeps them. */
async function hold(namespaces: readonly string[], script: string, ...args: string[]): Promise<ChildProcess> {
  const stdio: ["ignore", "pipe", "inherit"] = ["ignore", "pipe", "inherit"];
  const child = spawn("unshare", [...namespaces, "sh", "-c", script, "sh", ...args], { stdio });
  const [words] = (await Promise.race([once(child.stdout, "data"), once(child, "exit")])) as [unknown];
  if (String(words).trim() !== "ready") throw new Error(`The network did not start: ${words}`);
  return child;
}

function enter(holder: ChildProcess, ...command: string[]): string[] {
  return ["-t", String(holder.pid), "-n", "-m", "--", ...command];
}
