#!/usr/bin/env node
// `npm test`: sets everything up, runs every test, and ends with the line `N passed, N failed, N skipped`.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensurePrograms, exitOf, fail, root, say, withEverything } from "./setup.mjs";

async function main() {
  await ensurePrograms({ rg: "ripgrep", git: "git", bash: "bash", cc: "build-essential" });
  return withEverything(runTests);
}

async function runTests() {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-report-"));
  const file = join(folder, "report.json");
  try {
    say("Running the tests");
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const args = [
      "run",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${file}`,
      ...process.argv.slice(2),
    ];
    const code = await exitOf(process.execPath, [vitest, ...args]);
    const report = JSON.parse(await readFile(file, "utf8"));
    return { code, line: closingLine(report) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A file that could not even be loaded has no test that failed, and counts as one. */
function closingLine({ numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults }) {
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  const skipped = numPendingTests + numTodoTests;
  return `${numPassedTests} passed, ${numFailedTests + broken.length} failed, ${skipped} skipped`;
}

main().then(({ code, line }) => {
  console.log(line);
  process.exitCode = code;
}, fail);
