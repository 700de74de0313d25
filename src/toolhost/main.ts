import { ToolHost } from "./serve.ts";
import { nothing } from "./shell/nothing.ts";
import { namespaceScope } from "./shell/process-scope.ts";

// What the agent's processes do to each other must not end their witness with a stack trace on the channel.
process.on("uncaughtException", (error) => {
  process.stderr.write(`${error.stack ?? error}\n`);
  process.exit(70);
});
// A command can kill its tool host and lose its call; a plain `kill` aimed at others must not do that by accident.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

nothing();

new ToolHost({
  input: process.stdin,
  output: process.stdout,
  scope: namespaceScope(),
  exit: (code) => process.exit(code),
});
