import { join } from "node:path";
import { expect, test } from "vitest";
import { SmallDisk } from "../../support/small-disk.ts";
import { TestShell } from "./test-shell.ts";

const FLOOD = "head -c 300000 /dev/zero | tr '\\0' x";

test("logs of jobs that fill the disk of the shell's own files cost no later command", async () => {
  await using disk = await SmallDisk.create();
  const shell = new TestShell({ state: join(disk.path, "state"), maxOutputFileBytes: 100_000 });
  await shell.run("kept=1");
  for (let count = 0; count < 6; count++) await shell.run(`${FLOOD}; exit 0`, { background: true });
  await expect.poll(async () => (await shell.text("echo $kept")).startsWith("1\n"), { timeout: 20_000 }).toBe(true);
  expect(await shell.text("echo $kept")).toBe("1\n");
  await shell.close();
});

test("an output that fills that disk costs its own command's state, and no later one's", async () => {
  await using disk = await SmallDisk.create();
  const shell = new TestShell({ state: join(disk.path, "state"), maxOutputFileBytes: 8 * 1024 * 1024 });
  await shell.run("kept=1");
  // What the flood has left free by then is a matter of time, so the rest is filled too.
  const rest = `cat /dev/zero 2>/dev/null >${join(disk.path, "filler")}`;
  expect(await shell.text(`lost=1; ${FLOOD}; ${rest}; true`)).toContain(
    "is full, so the shell's state could not be saved",
  );
  await shell.run("later=1");
  expect(await shell.text('echo "$kept$later"')).toBe("11\n");
  await shell.close();
});
