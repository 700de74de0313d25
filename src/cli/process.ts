import { homedir } from "node:os";
import type { Secrets } from "../core/secrets.ts";
import type { Io } from "./io.ts";
import { main } from "./program.ts";
import { reportFailure } from "./report-failure.ts";

/** Runs a command line in this process, and ends it with the command's exit code once its output is written. */
export async function runProcess(argv: readonly string[], env: NodeJS.ProcessEnv, secrets: Secrets): Promise<void> {
  const { stdin, stdout, stderr } = process;
  const exit = (code: number): void => process.exit(code);
  const io: Io = {
    stdin,
    stdout,
    stderr,
    env,
    secrets,
    cwd: process.cwd(),
    userHome: homedir(),
    signals: process,
    exit,
  };
  const crash = (error: unknown): void => exit(reportFailure(error, io));
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  const code = await main(argv, io);
  await Promise.all([flushed(stdout), flushed(stderr)]);
  // A pipe on stdin that nobody closes, or an engine's idle connection, must not keep a finished command.
  exit(code);
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve();
    else stream.write("", () => resolve());
  });
}
