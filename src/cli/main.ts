#!/usr/bin/env node
import { VERSION } from "../core/version.ts";

const argv = process.argv.slice(2);

if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { takeSecrets } = await import("../core/secrets.ts");
  // Before anything else is loaded: no package and no child process ever sees a key in the environment.
  const secrets = takeSecrets(process.env);
  const { runProcess } = await import("./process.ts");
  await runProcess(argv, process.env, secrets);
}
