import { ToolHost } from "../../src/toolhost/serve.ts";
import { descendantScope } from "../../src/toolhost/shell/process-scope.ts";

// The real tool host on this machine, without a container around it: for tests of everything but the wall.
new ToolHost({
  input: process.stdin,
  output: process.stdout,
  scope: descendantScope(),
  exit: (code) => process.exit(code),
});
