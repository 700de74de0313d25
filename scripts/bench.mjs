#!/usr/bin/env node
// `npm run bench`: measures what `docs/speed.md` promises, each beside what it is compared with. Progress goes to stderr,
// stdout is one JSON object.
import { fail, withEverything } from "./setup.mjs";

async function main() {
  return withEverything(async () => (await import("../bench/main.mjs")).main());
}

main().then((report) => console.log(JSON.stringify(report)), fail);
