import type Docker from "dockerode";
import type { BoxPlan } from "./box.ts";
import { demultiplex } from "./channel.ts";
import { lost } from "./lost.ts";

/** The size of a terminal, and how one hears of another. */
export type TerminalSize = { columns: number; rows: number };
export type Terminal = {
  /** The person's `TERM`. */
  type: string;
  size: () => TerminalSize;
  /** Calls back for each change until `signal` aborts. */
  onResize: (changed: () => void, signal: AbortSignal) => void;
};

/** The caller's ends of a command's streams. They stay open. */
export type AttachStreams = {
  /** Omitted, the command reads the end of input at once. */
  stdin: NodeJS.ReadableStream | undefined;
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
};

export type AttachOptions = {
  /** Empty: an interactive shell. */
  command: readonly string[];
  streams: AttachStreams;
  /** Gives the command a terminal, which stdin and stdout must then be; its stderr goes to stdout. */
  terminal: Terminal | undefined;
  signal: AbortSignal;
};

type Place = Pick<BoxPlan, "hello"> & { user: BoxPlan["spec"]["user"] };

/**
 * Runs one command beside the tool host, as the same user, in the workspace, with the environment of an agent's
 * commands, and gives its exit code: 127 when it does not exist, 126 when it cannot be executed. Bytes are passed on
 * as they are. @throws GloveboxError `SANDBOX_LOST` when the container went away; whatever `signal` aborts with.
 */
export async function attach(container: Docker.Container, place: Place, options: AttachOptions): Promise<number> {
  const { hello, user } = place;
  const { terminal, signal } = options;
  const env = { ...hello.env, ...(terminal && { TERM: terminal.type }) };
  const exec = await container.exec({
    Cmd: argvFor(hello, options.command),
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    WorkingDir: hello.root,
    User: `${user.uid}:${user.gid}`,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: terminal !== undefined,
  });
  const socket = await exec.start({ hijack: true, stdin: true, Tty: terminal !== undefined });
  const done = new AbortController();
  try {
    if (terminal) followSize(exec, terminal, done.signal);
    await connect(socket, options);
    signal.throwIfAborted();
    return await exitCodeOf(exec);
  } finally {
    done.abort();
    socket.destroy();
  }
}

/** Looks before it leaps, so that a missing program is one sentence and not the engine's; then becomes the command. */
const START = [
  'umask "$1"; shift',
  'say() { printf "glovebox: %s\\n" "$1" >&2; }',
  'case "$1" in',
  '*/*) [ -e "$1" ] || { say "There is no \\`$1\\` in the sandbox"; exit 127; }',
  '  [ -f "$1" ] && [ -x "$1" ] || { say "\\`$1\\` cannot be executed"; exit 126; } ;;',
  '*) command -v -- "$1" >/dev/null 2>&1 || { say "The sandbox has no program \\`$1\\`"; exit 127; } ;;',
  "esac",
  'exec "$@"',
].join("\n");

function argvFor({ programs, umask }: Place["hello"], command: readonly string[]): string[] {
  const wanted = command.length > 0 ? command : [programs.shell, "-i"];
  return [programs.shell, "-c", START, "glovebox", umask.toString(8).padStart(4, "0"), ...wanted];
}

/** Resolves when the command's output has ended or the signal aborts. */
async function connect(socket: NodeJS.ReadWriteStream, { streams, terminal, signal }: AttachOptions): Promise<void> {
  const { stdin, stdout, stderr } = streams;
  if (stdin) stdin.pipe(socket);
  else socket.end();
  const toStdout = passTo(stdout, socket);
  if (terminal) socket.on("data", toStdout);
  else demultiplex(socket, { stdout: toStdout, stderr: passTo(stderr, socket) });
  await new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) socket.on(event, () => resolve());
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  stdin?.unpipe(socket);
  stdin?.pause();
}

/** A reader that is slow slows the command, and memory stays as it is. Says true, as it pauses `source` itself. */
function passTo(sink: NodeJS.WritableStream, source: NodeJS.ReadableStream): (bytes: Buffer) => true {
  let isWaiting = false;
  return (bytes) => {
    const hasRoom = sink.write(bytes);
    if (hasRoom || isWaiting) return true;
    isWaiting = true;
    source.pause();
    sink.once("drain", () => {
      isWaiting = false;
      source.resume();
    });
    return true;
  };
}

function followSize(exec: Docker.Exec, { size, onResize }: Terminal, until: AbortSignal): void {
  const resize = (): void => {
    const { columns, rows } = size();
    // The command may have ended meanwhile.
    exec.resize({ w: columns, h: rows }).catch(() => undefined);
  };
  resize();
  onResize(resize, until);
}

/** The engine may close the stream a moment before it knows how the command ended. */
const PATIENCE_MS = 2000;

async function exitCodeOf(exec: Docker.Exec): Promise<number> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const info = await exec.inspect().catch((error: unknown) => {
      throw lost("The container went away while the command ran", error);
    });
    if (!info.Running && info.ExitCode !== null) return info.ExitCode;
    if (performance.now() > giveUpAt) throw lost("The connection to the command was lost while it ran");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
