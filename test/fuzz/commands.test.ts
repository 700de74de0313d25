import * as fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import { fuzz } from "../support/fuzz.ts";
import { shellText } from "../support/shell-text.ts";
import { ShellTrial } from "../support/shell-trial.ts";

let trial: ShellTrial;
beforeAll(async () => {
  trial = await ShellTrial.open();
});
afterAll(async () => {
  console.log(`compared with a plain bash: ${trial?.compared}`);
  expect(trial?.compared).toBeGreaterThan(50);
  await trial?.close();
});

fuzz("any text does as a command what it does to a plain bash, and leaves the shell that a plain bash leaves", () =>
  fc.asyncProperty(shellText, (text) => trial.check(text)),
);
