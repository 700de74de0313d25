import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { nothing } from "./nothing.ts";

/**
 * One real pipe for stdout and stderr together. Node gives children two sockets: their order is lost between them, and
 * `echo x >/dev/stderr` or `tee /dev/stdout` fails, because a socket cannot be opened by name.
 */
export type OutputPipe = {
  /** A descriptor for the child's stdout and stderr; whoever opened it closes it after the spawn. */
  openWriter(): number;
  /** Ends when the last writer is gone. */
  openReader(): Readable;
  close(): void;
};

export type PipeMaker = {
  take(): Promise<OutputPipe>;
  /** Returns a pipe that has no writer left, for the next command. */
  give(pipe: OutputPipe): void;
  /** Drops a pipe that a background process still writes to, and has the next one ready. */
  retire(pipe: OutputPipe): void;
};

export function createPipeMaker(shell: string): PipeMaker {
  let spare: Promise<OutputPipe> | undefined;
  return {
    take() {
      const pipe = spare ?? makePipe(shell);
      spare = undefined;
      return pipe;
    },
    give(pipe) {
      spare = Promise.resolve(pipe);
    },
    retire(pipe) {
      pipe.close();
      // One that cannot be made now is made, or fails with words, when a command needs it.
      const next = makePipe(shell);
      spare = next;
      next.catch(() => {
        if (spare === next) spare = undefined;
      });
    },
  };
}

// Node cannot call pipe(2), but every shell does for `|`. The left side keeps the pipe as descriptor 4, says its pid and
// waits; opened by way of /proc, 4 is the pipe. Not 1, which bash moves about while it redirects a builtin. Builtins
// only, so that an image without coreutils will do.
const MAKER = '{ exec 4>&1 >&2; read -r pid rest </proc/self/stat; echo "$pid"; read -r rest <&3; } | read -r rest';

async function makePipe(shell: string): Promise<OutputPipe> {
  const maker = spawn(shell, ["-c", MAKER], { env: {}, stdio: [nothing(), nothing(), "pipe", "pipe"] });
  const ended = once(maker, "exit");
  ended.catch(() => undefined);
  const hold = maker.stdio[3];
  try {
    const pid = await Promise.race([firstNumber(maker.stderr), ended.then(() => undefined)]);
    // With a shell that works, only a full process table makes this fail.
    if (pid === undefined) {
      // A shell that cannot fork tries again for 15 s.
      maker.kill("SIGKILL");
      throw Object.assign(new Error(`${shell} could not make a pipe`), { code: "EAGAIN" });
    }
    const pipe = pipeOf(openSync(`/proc/${pid}/fd/4`, READ));
    hold?.destroy();
    // The right side still reads: what a command printed before it ended would be lost.
    await ended;
    return pipe;
  } finally {
    hold?.destroy();
  }
}

const READ = constants.O_RDONLY | constants.O_NONBLOCK;

function pipeOf(fd: number): OutputPipe {
  const path = `/proc/self/fd/${fd}`;
  return {
    openWriter: () => openSync(path, constants.O_WRONLY),
    openReader: () => new Socket({ fd: openSync(path, READ), readable: true, writable: false }),
    close: () => closeSync(fd),
  };
}

async function firstNumber(stream: Readable | null): Promise<number | undefined> {
  for await (const chunk of stream ?? []) {
    const pid = /^\d+/.exec(String(chunk))?.[0];
    return pid === undefined ? undefined : Number(pid);
  }
  return undefined;
}
