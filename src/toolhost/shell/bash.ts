import { systemCode } from "../../core/errors.ts";
import type { Hello, Outcome } from "../../protocol/messages.ts";
import { BASH_SECONDS } from "../../tools/bash.ts";
import type { Handler } from "../context.ts";
import { outcome } from "../outcomes.ts";
import { ownLimits } from "../own-limits.ts";
import { createPty, type TakeTurn } from "../pty/pty.ts";
import { startBackground } from "./background.ts";
import { openCgroup } from "./cgroup.ts";
import { runForeground } from "./foreground.ts";
import { answerJobCall } from "./job-call.ts";
import { JobTable } from "./jobs.ts";
import { ShellMemory } from "./memory.ts";
import { OutputFolder } from "./output-folder.ts";
import { callProcesses, endable, type ShellParts } from "./parts.ts";
import { killAll, send } from "./process-kill.ts";
import { createPipeMaker } from "./process-pipe.ts";
import type { ProcessScope } from "./process-scope.ts";
import { ensureFolder, tryTo } from "./state-folder.ts";
import { checkText } from "./text.ts";
import { Turns } from "./turns.ts";
import { createWhose, type Whose } from "./whose.ts";

export type Shell = {
  handleBash: Handler<"bash">;
  handlePty: Handler<"pty">;
  whose: Whose;
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
  const parts = partsOf(hello, scope);
  endPrevious(parts);
  const settled = killAll(endable(parts, () => callProcesses(parts)));
  const turns = new Turns(settled);
  let saidPosix = hello.programs.shellKind === "bash" || hello.previousPid !== undefined;
  let ended = false;
  let running: number | undefined;
  const failed = (thrown: unknown): Outcome => couldNotRun(thrown, hello);

  /** Carries out what starts a program, when it is its turn. */
  const take: TakeTurn = (context, run) =>
    turns.take(context.signal, async () => {
      parts.limits.require();
      if (ended) return outcome("cancelled", "Not run: the session has ended");
      const notes = saidPosix ? [] : [POSIX_NOTE];
      saidPosix = true;
      running = context.id;
      return run(notes).finally(() => {
        running = undefined;
      });
    });

  const handleBash: Handler<"bash"> = ({ command = "", timeout, background, job, kill }, context) => {
    // Not in turn: a job can be looked at, and ended, while a command runs.
    if (job !== undefined) return answerJobCall(parts, { job, kill: kill === true }).catch(failed);
    const checked = checkText(command);
    if ("refused" in checked) return Promise.resolve(outcome("invalid", checked.refused));
    const timeoutMs = (timeout ?? BASH_SECONDS.default) * 1000;
    return take(context, (notes) => {
      const prepared = { text: checked.text, notes: [...checked.notes, ...notes], timeoutMs };
      return background
        ? startBackground(parts, { ...prepared, call: context.id })
        : runForeground(parts, prepared, context);
    }).catch(failed);
  };
  const handlePty = createPty(parts, take);
  return {
    handleBash,
    handlePty: (args, context) => handlePty(args, context).catch(failed),
    whose: createWhose(parts, () => running),
    settled,
    async endEverything() {
      ended = true;
      const { left } = await killAll(endable(parts, () => scope.session()));
      return left;
    },
  };
}

function partsOf(hello: Hello, scope: ProcessScope): ShellParts {
  // The first one in a container makes this folder.
  tryTo(() => ensureFolder(hello.state));
  return {
    hello,
    scope,
    memory: new ShellMemory(hello, hello.previousPid !== undefined),
    pipes: createPipeMaker(hello.programs.shell),
    jobs: new JobTable(hello.state),
    outputs: new OutputFolder(hello.state, hello.maxOutputFileBytes),
    cgroup: openCgroup(),
    limits: ownLimits,
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

function couldNotRun(thrown: unknown, { state }: Hello): Outcome {
  ownLimits.require();
  const words: Record<string, string> = {
    EAGAIN: "no process can be started: the limit on processes is reached",
    ENOMEM: "no process can be started: the memory is used up",
    EMFILE: "the tool host's limit on open files is reached",
    ENOSPC: `its files cannot be written: the file system of ${state} is full, and not by what is kept there; make room by \`write\` with empty content to what fills it`,
    ENOENT: "the shell of the image, or the folder of its own files, is gone",
    ENOTDIR: "the folder of the shell's own files was replaced",
  };
  const cause = thrown instanceof Error ? thrown.message : String(thrown);
  return outcome("failed", `The command could not be run to its end: ${words[systemCode(thrown) ?? ""] ?? cause}`);
}
