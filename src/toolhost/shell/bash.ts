import { systemCode } from "../../core/errors.ts";
import type { Hello, Outcome } from "../../protocol/messages.ts";
import { BASH_SECONDS } from "../../tools/bash.ts";
import type { Handler } from "../context.ts";
import { cancelled } from "../notices.ts";
import { outcome } from "../outcomes.ts";
import { ownLimits } from "../own-limits.ts";
import { startBackground } from "./background.ts";
import { openCgroup } from "./cgroup.ts";
import { runForeground } from "./foreground.ts";
import { JobTable } from "./jobs.ts";
import { ShellMemory } from "./memory.ts";
import { OutputFolder } from "./output-folder.ts";
import { callProcesses, endable, type ShellParts } from "./parts.ts";
import { killAll, send } from "./process-kill.ts";
import { createPipeMaker } from "./process-pipe.ts";
import type { ProcessScope } from "./process-scope.ts";
import { ensureFolder, tryTo } from "./state-folder.ts";
import { checkText } from "./text.ts";
import { createWhose, type Whose } from "./whose.ts";

export type Shell = {
  handleBash: Handler<"bash">;
  whose: Whose;
  /** One line a background job; empty without any. */
  describeJobs(): string;
  /** Resolves when nothing of an earlier tool host's calls lives any more. */
  settled: Promise<unknown>;
  /** Kills every process of the session, jobs included; resolves to how many are left. Nothing can be run afterwards. */
  endEverything(): Promise<number>;
};

/**
 * The shell of a session. `scope` says which processes it may kill: `namespaceScope()` in a container of its own,
 * `descendantScope()` anywhere else. Processes of a call that an earlier tool host left unfinished are ended first.
 */
export function createShell({ hello, scope }: { hello: Hello; scope: ProcessScope }): Shell {
  // The first one in a container makes this folder.
  tryTo(() => ensureFolder(hello.state));
  const parts: ShellParts = {
    hello,
    scope,
    memory: new ShellMemory(hello, hello.previousPid !== undefined),
    pipes: createPipeMaker(hello.programs.shell),
    jobs: new JobTable(hello.state),
    outputs: new OutputFolder(hello.state, hello.maxOutputFileBytes),
    cgroup: openCgroup(),
    limits: ownLimits,
  };
  endPrevious(parts);
  const settled = killAll(endable(parts, () => callProcesses(parts)));
  let last: Promise<unknown> = settled;
  let saidPosix = hello.programs.shellKind === "bash" || hello.previousPid !== undefined;
  let ended = false;
  let running: number | undefined;

  const handleBash: Handler<"bash"> = ({ command, timeout, background }, context) => {
    const checked = checkText(command);
    if ("refused" in checked) return Promise.resolve(outcome("invalid", checked.refused));
    const turn = inTurn(last, context.signal, async () => {
      parts.limits.require();
      if (ended) return outcome("cancelled", "Not run: the session has ended");
      const notes = saidPosix ? checked.notes : [...checked.notes, POSIX_NOTE];
      saidPosix = true;
      const timeoutMs = (timeout ?? BASH_SECONDS.default) * 1000;
      running = context.id;
      const command = { text: checked.text, notes, timeoutMs };
      return (
        background ? startBackground(parts, command, context.id) : runForeground(parts, command, context)
      ).finally(() => {
        running = undefined;
      });
    });
    last = turn.over;
    return turn.outcome.catch(couldNotRun);
  };
  return {
    handleBash,
    whose: createWhose(parts, () => running),
    settled,
    describeJobs: () => parts.jobs.describe(scope.session()),
    async endEverything() {
      ended = true;
      const { left } = await killAll(endable(parts, () => scope.session()));
      return left;
    },
  };
}

/**
 * A tool host that was stopped takes every process but its own for the session's as soon as it goes on, us included. So
 * it dies first and without being asked.
 */
function endPrevious(parts: ShellParts): void {
  const previous = callProcesses(parts).find(({ pid }) => pid === parts.hello.previousPid);
  if (previous) send(previous, "SIGKILL");
}

const POSIX_NOTE =
  "this image has no bash: sh runs the commands, and only the directory and exported variables are carried between them";

/** One command at a time. A cancelled call is answered at once, also while it waits; `over` is when the next may run. */
function inTurn(
  previous: Promise<unknown>,
  signal: AbortSignal,
  run: () => Promise<Outcome>,
): { outcome: Promise<Outcome>; over: Promise<unknown> } {
  const { promise, resolve } = withResolvers<Outcome>();
  const giveUp = (): void => resolve(cancelled("it had not started"));
  signal.addEventListener("abort", giveUp, { once: true });
  const over = previous.then(async () => {
    signal.removeEventListener("abort", giveUp);
    if (signal.aborted) giveUp();
    else resolve(run());
    await promise.catch(() => undefined);
  });
  return { outcome: promise, over };
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T | Promise<T>) => void } {
  let resolve: (value: T | Promise<T>) => void = () => undefined;
  const promise = new Promise<T>((take) => {
    resolve = take;
  });
  return { promise, resolve };
}

function couldNotRun(thrown: unknown): Outcome {
  ownLimits.require();
  const words: Record<string, string> = {
    EAGAIN: "no process can be started: the limit on processes is reached",
    ENOMEM: "no process can be started: the memory is used up",
    EMFILE: "the tool host's limit on open files is reached",
    ENOSPC: "its files cannot be written: the file system of the tool host's state folder is full",
    ENOENT: "the shell of the image, or the folder of its own files, is gone",
    ENOTDIR: "the folder of the shell's own files was replaced",
  };
  const cause = thrown instanceof Error ? thrown.message : String(thrown);
  return outcome("failed", `The command could not be run to its end: ${words[systemCode(thrown) ?? ""] ?? cause}`);
}
