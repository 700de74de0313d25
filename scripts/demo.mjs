#!/usr/bin/env node
// `npm run demo`: an agent repairs a bug in a repository whose tests attack the machine they run on; then what became of
// the attacks is shown from evidence on this machine. Ends 1 when any of it is not as it should be.
import { perform } from "./demo/perform.mjs";
import { ensurePrograms, fail, withEverything } from "./setup.mjs";

// Ctrl-C reaches the run, too; this process stays to tidy up after it.
process.on("SIGINT", () => undefined);

async function main() {
  await ensurePrograms({ git: "git" });
  return withEverything(perform, { keepEngine: true });
}

main().then((code) => {
  process.exitCode = code;
}, fail);
