import { Command, CommanderError } from "commander";
import { EXIT, GloveboxError, toGloveboxError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { clip } from "../core/truncate.ts";
import { VERSION } from "../core/version.ts";
import type { Io } from "./io.ts";
import { addPolicyCommands } from "./policy-program.ts";
import { ALLOW_HOST, TOOL } from "./repeatable.ts";
import { reportFailure } from "./report-failure.ts";
import { usageFailure } from "./usage-failure.ts";

/** Runs the command that `argv` names and gives its exit code. Never throws. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  // Whoever closes the other end of stderr does not want to know; stdout's errors belong to its Printer.
  io.stderr.on("error", () => undefined);
  io.stdout.on("error", () => undefined);
  const state: State = { io, exitCode: EXIT.completed, usage: "", command: "glovebox" };
  try {
    await createProgram(state).parseAsync([...argv], { from: "user" });
    return state.exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return EXIT.completed;
    const failure =
      thrown instanceof CommanderError ? usageFailure(state.usage || thrown.message, state.command) : thrown;
    if (asksForJson(argv)) await printFailure(failure, io);
    return reportFailure(failure, io);
  }
}

type State = {
  io: Io;
  exitCode: number;
  /** What commander last had to say on stderr. */
  usage: string;
  /** The command whose options were being read. */
  command: string;
};

function createProgram(state: State): Command {
  const { io } = state;
  const program = new Command("glovebox")
    .description("Runs coding agents on code nobody trusts, in sealed containers.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .enablePositionalOptions()
    .addHelpText("after", TOP_EXAMPLES)
    .allowExcessArguments()
    .action(() => {
      requireNoWord(program);
      io.stderr.write(program.helpInformation() + TOP_EXAMPLES);
      state.exitCode = EXIT.usage;
    });
  quieten(program, state);
  addRun(program, state);
  addExec(program, state);
  addSessions(program, state);
  addApply(program, state);
  addPolicyCommands(group(program, "policy", "what a session may do, and by which rule", state), {
    io,
    quieten: (command) => quieten(command, state),
    done: (exitCode) => {
      state.exitCode = exitCode;
    },
  });
  addMaintenance(program, state);
  return program;
}

const TOP_EXAMPLES = `
Examples:
  glovebox run "make the tests pass"
  glovebox run --model scripted:demo.yaml --json "repair the bug"
  glovebox exec -- npm test
  glovebox doctor
`;

const RUN_HELP = `
Examples:
  glovebox run "make the tests pass"
  git diff | glovebox run --approve ask
  glovebox run --workspace ../repo --model gpt-5 --json "why does it fail?" > result.json

The prompt comes from the words or, without any, from stdin. Text mode prints the assistant's words to stdout and all
else to stderr; --json prints one result object, --events one event a line.

Exit codes: 0 completed, 1 failed, 2 usage or configuration, 3 completed but calls or hosts were denied because nobody
was there to ask, 4 a limit ended it, 5 no sandbox, 6 credentials, 7 truncated or refused, 130/143 stopped by a signal.
`;

const EXEC_HELP = `
Examples:
  glovebox exec -- npm test
  glovebox exec                      a shell

The command gets the same container, user and environment as an agent's commands. Nothing is logged; its output is
passed on as it is. Exits with the command's exit code, 127 when it is not found.
`;

const DOCTOR_HELP = `
Examples:
  glovebox doctor
  glovebox doctor --attack --image node:22

--attack opens sandboxes on a scratch folder and tries, from inside, what a hostile program would; it takes about a
minute. Exit codes: 0 all contained, 5 not, or no sandbox.
`;

function addRun(program: Command, state: State): void {
  quieten(program.command("run"), state)
    .description("give the agent one task and wait for the end")
    .argument("[prompt...]", "what is to be done; `-` or nothing: read it from stdin")
    .option("--workspace <dir>", "the folder to work in (default: the current one)")
    .option("--model <name>", "a model, PROVIDER:NAME, or scripted:FILE")
    .option("--policy <file>", "a policy file or a preset, in place of your own")
    .option("--strict-policy", "what a policy asks for and does not get is an error")
    .option("--image <ref>", "the image to work in (default: glovebox/base)")
    .option(...ALLOW_HOST)
    .option(...TOOL)
    .option("--approve <who>", "who answers before calls that change something: ask, auto or deny")
    .option("--max-turns <n>", "end after so many turns (default: 50)")
    .option("--max-seconds <n>", "end after so many seconds (default: 3600)")
    .option("--model-retries <n>", "repetitions of a model request that failed in passing (default: 4)")
    .option("--no-build", "do not build missing images")
    .option("--json", "print one result object to stdout")
    .option("--events", "print every event to stdout, one a line")
    .addHelpText("after", RUN_HELP)
    .action(async (words: string[], flags) => {
      const { runCommand } = await import("./run-command.ts");
      state.exitCode = await runCommand(words, flags, state.io);
    });
}

function addExec(program: Command, state: State): void {
  quieten(program.command("exec"), state)
    .description("run one command, or a shell, in the same sandbox without a model")
    .argument("[command...]", "the command and its arguments; nothing: a shell")
    .option("--workspace <dir>", "the folder to work in (default: the current one)")
    .option("--policy <file>", "a policy file or a preset, in place of your own")
    .option("--image <ref>", "the image to work in (default: glovebox/base)")
    .option(...ALLOW_HOST)
    .option("--no-build", "do not build missing images")
    .passThroughOptions()
    .addHelpText("after", EXEC_HELP)
    .action(async (words: string[], flags) => {
      const { execCommand } = await import("./exec-command.ts");
      state.exitCode = await execCommand(words, flags, state.io);
    });
}

function addSessions(program: Command, state: State): void {
  const sessions = group(program, "sessions", "look at past sessions", state);
  quieten(sessions.command("list"), state)
    .description("sessions of the current folder, newest first")
    .option("--all", "of every folder")
    .option("--json", "as one object")
    .action(async (flags) => {
      const { listCommand } = await import("./sessions-command.ts");
      state.exitCode = await listCommand(flags, state.io);
    });
  quieten(sessions.command("show"), state)
    .description("what was said and done in a session")
    .argument("<id>", "its id, the beginning of it, or `latest`")
    .option("--egress", "what went over the network instead, by host")
    .option("--diff", "with the diff of each change")
    .option("--json", "as one object")
    .action(async (id: string, flags) => {
      const { showCommand } = await import("./sessions-command.ts");
      state.exitCode = await showCommand(id, flags, state.io);
    });
}

function addApply(program: Command, state: State): void {
  quieten(program.command("apply"), state)
    .description("bring back what a session moved out of its workspace")
    .argument("<id>", "its id, the beginning of it, or `latest`")
    .argument("[path]", "the path to show and, on a yes, to bring back; nothing: list what there is")
    .option("--yes", "bring it back without asking")
    .option("--sha256 <hex>", "which one, where there are several of one path")
    .option("--no-build", "do not build missing images")
    .option("--json", "the list as one object")
    .action(async (id: string, path: string | undefined, flags) => {
      const { applyCommand } = await import("./apply-command.ts");
      state.exitCode = await applyCommand([id, path], flags, state.io);
    });
}

function addMaintenance(program: Command, state: State): void {
  quieten(program.command("doctor"), state)
    .description("check that everything is here and that the sandbox holds")
    .option("--attack", "try to break out of it: the whole attack suite, against your own engine, image and policy")
    .option("--policy <file>", "a policy file or a preset, in place of your own")
    .option("--image <ref>", "the image to work in (default: glovebox/base)")
    .option("--json", "as one object")
    .addHelpText("after", DOCTOR_HELP)
    .action(async (flags) => {
      const command = flags.attack
        ? (await import("./attack-command.ts")).attackCommand
        : (await import("./doctor-command.ts")).doctorCommand;
      state.exitCode = await command(flags, state.io);
    });
  quieten(program.command("gc"), state)
    .description("remove what crashed runs left")
    .option("--json", "as one object")
    .action(async (flags) => {
      const { gcCommand } = await import("./gc-command.ts");
      state.exitCode = await gcCommand(flags, state.io);
    });
  const image = group(program, "image", "the images that sandboxes are made from", state);
  quieten(image.command("build"), state)
    .description("build what is missing")
    .action(async () => {
      const { buildCommand } = await import("./image-command.ts");
      state.exitCode = await buildCommand(state.io);
    });
  quieten(image.command("list"), state)
    .description("what builds have made")
    .option("--json", "as one object")
    .action(async (flags) => {
      const { imagesCommand } = await import("./image-command.ts");
      state.exitCode = await imagesCommand(flags, state.io);
    });
}

/** A command that only has commands: alone it prints its help and is a usage error. */
function group(program: Command, name: string, description: string, state: State): Command {
  const command = quieten(program.command(name), state).description(description);
  return command.allowExcessArguments().action(() => {
    requireNoWord(command);
    state.io.stderr.write(command.helpInformation());
    state.exitCode = EXIT.usage;
  });
}

/** A word where a command should stand is a command nobody knows. */
function requireNoWord(command: Command): void {
  const [word] = command.args;
  if (word === undefined) return;
  const names = command.commands.map((known) => known.name());
  const close = nearest(word, names);
  throw new GloveboxError("USAGE", `There is no command \`${clip(word, 60)}\``, {
    hint: close ? `Did you mean \`${close}\`?` : `There are ${names.map((name) => `\`${name}\``).join(", ")}`,
  });
}

/** Commander throws instead of ending the process, and its words are kept for our own report. */
function quieten(command: Command, state: State): Command {
  const names = [command.parent?.parent?.name(), command.parent?.name(), command.name()];
  const path = names.filter((name) => name !== undefined).join(" ");
  return command
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => state.io.stdout.write(text),
      writeErr: () => undefined,
      outputError: (text) => {
        state.usage = text;
        state.command = path;
      },
      getOutHelpWidth: () => state.io.stdout.columns ?? 100,
      getErrHelpWidth: () => state.io.stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
}

/** `run --json` owes its reader an object for a bad option too. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv[0] === "run" && argv.slice(0, end < 0 ? undefined : end).includes("--json");
}

async function printFailure(failure: unknown, io: Io): Promise<void> {
  const { failedResult } = await import("../session/run-once.ts");
  io.stdout.write(`${JSON.stringify(failedResult(toGloveboxError(failure)))}\n`);
}
