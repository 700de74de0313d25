import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ArgumentTrial } from "../support/argument-trial.ts";
import { openSandbox, Place } from "../support/engine.ts";
import { fuzz } from "../support/fuzz.ts";
import { rawCall } from "../support/tool-arguments.ts";

let place: Place;
let trial: ArgumentTrial;
beforeAll(async () => {
  place = await Place.create();
  await chmod(place.root, 0o777);
  trial = await ArgumentTrial.open(place.folder, async (root) => (await openSandbox(root)).sandbox);
});
afterAll(async () => {
  await trial?.close();
  await place?.[Symbol.asyncDispose]();
});

fuzz("any arguments of a tool have one result that can be read, and nothing outside the workspace changes", () =>
  fc.asyncProperty(rawCall, (raw) => trial.check(raw)),
);

it("a file that changes outside the workspace is seen", async () => {
  const file = join(place.folder, "OUT/new.txt");
  await writeFile(file, "x");
  await expect(trial.check({ tool: "ls", raw: "{}" })).rejects.toThrow("nothing outside is touched");
  await rm(file);
  await trial.check({ tool: "ls", raw: "{}" });
});
