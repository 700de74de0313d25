import type { Command } from "commander";
import type { Io } from "./io.ts";
import type { PolicyFlags } from "./policy-command.ts";
import { ALLOW_HOST } from "./repeatable.ts";

type Setting = {
  io: Io;
  /** Makes a command report through us. */
  quieten: (command: Command) => Command;
  done: (exitCode: number) => void;
};

/** The commands of `glovebox policy`. */
export function addPolicyCommands(policy: Command, setting: Setting): void {
  addLooks(policy, setting);
  addChanges(policy, setting);
}

const WORKSPACE = ["--workspace <dir>", "the folder it is for (default: the current one)"] as const;
const POLICY = ["--policy <file>", "a policy file or a preset, in place of your own"] as const;

function addLooks(policy: Command, { io, quieten, done }: Setting): void {
  quieten(policy.command("show"))
    .description("the policy in force, with the rule behind each value")
    .option(...WORKSPACE)
    .option(...POLICY)
    .option(...ALLOW_HOST)
    .option("--json", "as one object")
    .action(async (flags: PolicyFlags) => done(await (await commands()).showCommand(flags, io)));
  quieten(policy.command("check"))
    .description("is a file a policy, and is all of it enforced")
    .argument("<file>", "a policy file")
    .action(async (file: string) => done(await (await commands()).checkCommand(file, io)));
  quieten(policy.command("explain"))
    .description("what the policy says of one thing, and by which rule")
    .argument("<kind>", "path, host, command, tool or effect")
    .argument("<value>", "such as src/a.ts, example.com:80, 'GET example.com/a', 'git push', bash, exec")
    .option(...WORKSPACE)
    .option(...POLICY)
    .option(...ALLOW_HOST)
    .option("--json", "as one object")
    .action(async (kind: string, value: string, flags: PolicyFlags) =>
      done(await (await commands()).explainCommand([kind, value], flags, io)),
    );
}

function addChanges(policy: Command, { io, quieten, done }: Setting): void {
  quieten(policy.command("init"))
    .description("write a commented policy for this project")
    .option(...WORKSPACE)
    .option("--user", "your own policy instead")
    .action(async (flags) => done(await (await commands()).initCommand(flags, io)));
  quieten(policy.command("trust"))
    .description("take the project's policy, as it is now, as your own words")
    .option(...WORKSPACE)
    .action(async (flags) => done(await (await commands()).trustCommand(flags, io)));
  quieten(policy.command("untrust"))
    .description("take that back")
    .option(...WORKSPACE)
    .action(async (flags) => done(await (await commands()).untrustCommand(flags, io)));
}

function commands() {
  return import("./policy-command.ts");
}
