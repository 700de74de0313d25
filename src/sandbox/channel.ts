import { PassThrough } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import { tailBytes } from "../core/truncate.ts";
import { orMissing } from "./engine/status.ts";
import type { User } from "./identity.ts";
import { RUNTIME_PATHS } from "./images/runtime-paths.ts";
import type { ChannelStreams } from "./tool-host-connection.ts";

/** A tool host started by one exec; its stdin and stdout are the channel. */
export type ToolHostExec = ChannelStreams & {
  /** The end of what it printed on stderr, for diagnosis: at most 4 KiB. */
  stderr: () => string;
  /** Resolves with the tool host's exit code, or with null when it has not ended within that time or nobody knows. */
  ended: (withinMs: number) => Promise<number | null>;
};

const STDERR_BYTES = 4 * 1024;

/**
 * Starts a tool host in a running container. Argv names nothing a command would guess, and no library of OpenSSL's
 * configuration, which an image could have planted, is loaded.
 */
export async function startToolHost(container: Docker.Container, { uid, gid }: User): Promise<ToolHostExec> {
  const exec = await container.exec({
    Cmd: [`./${base(RUNTIME_PATHS.nodePath)}`, "--openssl-config=/dev/null", `./${base(RUNTIME_PATHS.bundlePath)}`],
    WorkingDir: RUNTIME_PATHS.hostDir,
    User: `${uid}:${gid}`,
    Env: ["PATH=/nonexistent", "HOME=/nonexistent", "LANG=C.UTF-8"],
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
  });
  const socket = await exec.start({ hijack: true, stdin: true, Tty: false });
  const input = new PassThrough();
  let stderr = "";
  const decoder = new StringDecoder("utf8");
  demultiplex(socket, {
    stdout: (bytes) => input.write(bytes),
    stderr: (bytes) => {
      stderr = tailBytes(stderr + decoder.write(bytes), STDERR_BYTES);
    },
  });
  input.on("drain", () => socket.resume());
  socket.on("end", () => input.end());
  socket.on("close", () => input.end());
  socket.on("error", (error) => input.destroy(error));
  return {
    input,
    output: socket,
    stderr: () => stderr,
    destroy: () => socket.destroy(),
    ended: (withinMs) => whenEnded(exec, withinMs),
  };
}

const POLL_MS = 20;

async function whenEnded(exec: Docker.Exec, withinMs: number): Promise<number | null> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    // An engine that was restarted knows its earlier execs no more.
    const info = await orMissing(exec.inspect());
    if (!info?.Running || performance.now() > deadline) return info?.ExitCode ?? null;
    await sleep(POLL_MS);
  }
}

type Sinks = { stdout: (bytes: Buffer) => boolean; stderr: (bytes: Buffer) => unknown };

/** Bytes of a header of the engine's stream format: one of stream number, three of zero, four of length. */
const HEADER_BYTES = 8;
const STDOUT = 1;

/**
 * Splits the engine's multiplexed attach stream, whatever its chunks, without holding more than a header: payload is
 * passed on as it comes. Pauses `source` while stdout's sink asks to wait.
 */
export function demultiplex(source: NodeJS.ReadableStream, { stdout, stderr }: Sinks): void {
  let header = Buffer.alloc(0);
  let left = 0;
  source.on("data", (chunk: Buffer) => {
    let rest = chunk;
    while (rest.length > 0) {
      if (left === 0) {
        const missing = HEADER_BYTES - header.length;
        header = Buffer.concat([header, rest.subarray(0, missing)]);
        rest = rest.subarray(missing);
        if (header.length < HEADER_BYTES) return;
        left = header.readUInt32BE(4);
        if (left === 0) header = Buffer.alloc(0);
        continue;
      }
      const payload = rest.subarray(0, left);
      left -= payload.length;
      rest = rest.subarray(payload.length);
      if (header[0] !== STDOUT) stderr(payload);
      else if (!stdout(payload)) source.pause();
      if (left === 0) header = Buffer.alloc(0);
    }
  });
}

function base(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
