import { chmod, copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { connect } from "./engine.ts";

export type PlainRun = { text: string; prologue: string; env: Record<string, string>; cwd: string; timeoutMs: number };

/** What a plain bash did with a text. `state`: what its EXIT trap found, where it came to that. */
export type PlainEnd = {
  output: Buffer;
  code: number | null;
  signal: NodeJS.Signals | null;
  timedOut: boolean;
  state?: string;
};

type Answer = Omit<PlainEnd, "output"> & { output: string; problem?: string };

/** A bash without anything around it, in a container of its own: what a command's output and end are judged by. */
export class PlainBash {
  readonly #input: NodeJS.WritableStream;
  readonly #answers: AsyncIterator<string>;
  readonly #remove: () => Promise<void>;
  #problem = "";

  private constructor(
    input: NodeJS.WritableStream,
    lines: AsyncIterator<string>,
    errors: PassThrough,
    remove: () => Promise<void>,
  ) {
    this.#input = input;
    this.#remove = remove;
    this.#answers = lines;
    errors.on("data", (chunk: Buffer) => {
      this.#problem += String(chunk);
    });
  }

  /** Starts in a container of `image`; commands run in `root`, the same folder inside and outside, as `uid`:`gid`. */
  static async start(image: string, root: string, { uid, gid }: { uid: number; gid: number }): Promise<PlainBash> {
    const folder = `${root}-plain`;
    await mkdir(folder);
    await chmod(folder, 0o777);
    await copyFile(join(import.meta.dirname, "plain-bash-driver.mjs"), join(folder, "driver.mjs"));
    const { docker } = await connect();
    const container = await docker.createContainer({
      Image: image,
      User: "0:0",
      Entrypoint: ["node", join(folder, "driver.mjs"), folder, String(uid), String(gid)],
      Cmd: [],
      Env: ["PATH=/usr/local/bin:/usr/bin:/bin"],
      OpenStdin: true,
      StdinOnce: true,
      HostConfig: {
        Init: true,
        NetworkMode: "none",
        ReadonlyRootfs: true,
        Tmpfs: { "/tmp": "mode=1777", "/run": "mode=777", "/home": "mode=777" },
        Binds: [root, folder].map((path) => `${path}:${path}`),
        CapDrop: ["ALL"],
        CapAdd: ["SETUID", "SETGID", "KILL"],
        PidsLimit: 512,
      },
    });
    const stream = await container.attach({ stream: true, hijack: true, stdin: true, stdout: true, stderr: true });
    const [output, errors] = [new PassThrough(), new PassThrough()];
    docker.modem.demuxStream(stream, output, errors);
    stream.once("end", () => output.end());
    await container.start();
    const lines = createInterface({ input: output })[Symbol.asyncIterator]();
    return new PlainBash(stream, lines, errors, () => container.remove({ force: true, v: true }));
  }

  async run(run: PlainRun): Promise<PlainEnd> {
    // Readers of lines also end them at U+2028, which JSON leaves as it is.
    this.#input.write(`${Buffer.from(JSON.stringify(run)).toString("base64")}\n`);
    const { value, done } = await this.#answers.next();
    if (done || !value.startsWith("{")) throw new Error(`The plain bash ended: ${value} ${this.#problem}`);
    const { output, problem, ...end } = JSON.parse(value) as Answer;
    if (problem !== undefined) throw new Error(`The plain bash could not run it: ${problem}`);
    return { ...end, output: Buffer.from(output, "base64") };
  }

  async close(): Promise<void> {
    await this.#remove();
  }
}
