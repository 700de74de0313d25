import { expect, it } from "vitest";
import type { ToolResult } from "../../src/core/tool-result.ts";
import { openSandbox, Place } from "../support/engine.ts";
import { call, words } from "../support/sandbox-contract.ts";

it("a command's figures are its own: processor time, and a peak of memory told each time", async () => {
  await using place = await Place.create();
  await using opened = await openSandbox(place.root);
  const sh = (command: string): Promise<ToolResult> => call(opened.sandbox, "bash", { command });
  // Files that stay in memory are no command's own but for the one that made them.
  const writer = await sh("head -c 100000000 /dev/zero >/tmp/stays");
  const hungry = `python3 -c 'import time
data = bytearray(200_000_000)
time.sleep(0.5)'`;
  const [first, second] = [await sh(hungry), await sh(hungry)];
  const small = await sh("python3 -c 'import time; time.sleep(0.2)'");
  for (const { details } of [first, second]) expect(details.peak_memory_bytes).toBeGreaterThanOrEqual(200_000_000);
  expect(writer.details.peak_memory_bytes).toBeGreaterThanOrEqual(100_000_000);
  expect(small.details.peak_memory_bytes).toBeGreaterThan(1_000_000);
  expect(small.details.peak_memory_bytes).toBeLessThan(150_000_000);
  const busy = await sh(`python3 -c 'import time
while time.process_time() < 0.6: pass'`);
  expect(busy.details.cpu_seconds).toBeGreaterThanOrEqual(0.6);
  expect(small.details.cpu_seconds).toBeLessThan(busy.details.cpu_seconds ?? 0);
});

it("what is shown of a command is what the policy says", async () => {
  await using place = await Place.create();
  await using tight = await openSandbox(place.root, { limits: { outputBytes: 4096 } });
  const result = await call(tight.sandbox, "bash", { command: "seq 1 2000" });
  expect(words(result)).toMatch(
    /\n2000\n\[output cut: shown are the last 819 of 2000 lines, 4.0 KiB of 8.7 KiB; all of it is in /,
  );
});
