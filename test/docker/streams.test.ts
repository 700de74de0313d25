import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import type { ToolResult } from "../../src/core/tool-result.ts";
import { isWellFormed } from "../../src/core/truncate.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { type Opened, openSandbox, Place } from "../support/engine.ts";
import { growthDuring } from "../support/growth.ts";
import { call, words } from "../support/sandbox-contract.ts";

const MIB = 1024 * 1024;
/** What a process may grow by while something floods it. */
const FLAT_BYTES = 100 * MIB;
/** A cancel and a time limit end a command in well under a second; this is against one that hangs. */
const ENDED_WITHIN_MS = 15_000;

let place: Place;
let opened: Opened;
let sandbox: Sandbox;

beforeAll(async () => {
  place = await Place.create();
  opened = await openSandbox(place.root);
  ({ sandbox } = opened);
  // What a first command costs is no growth.
  await sh("seq 100000");
});
afterAll(async () => {
  await sandbox?.close();
  await place?.[Symbol.asyncDispose]();
});

function sh(command: string, extra: JsonObject = {}): Promise<ToolResult> {
  return call(sandbox, "bash", { command, timeout: 60, ...extra });
}

async function said(command: string): Promise<string> {
  return words(await sh(command)).trim();
}

/** The most memory the tool host ever had, from inside. */
async function toolHostPeak(): Promise<number> {
  return Number(await said("awk '/^VmHWM/ { print $2 * 1024 }' /proc/$PPID/status"));
}

type Flood = {
  title: string;
  /** Prints so many bytes and then fails with 3. */
  command: string;
  bytes: number;
  endless: string;
  notice: RegExp;
  shown: RegExp;
};

const BYTES_ONE_BY_ONE = `import os
while COUNT: COUNT -= os.write(1, b"x")`;

const FLOODS: Flood[] = [
  {
    title: "1 GB in short lines",
    command: "yes | head -c 1000000000; exit 3",
    bytes: 1_000_000_000,
    endless: "yes",
    notice: /shown are the last 2000 of 500000000 lines, 3.9 KiB of 953.7 MiB; its beginning and end are in /,
    shown: /^(y\n){2000}$/,
  },
  {
    title: "400,000 writes of a byte",
    command: `python3 -c '${BYTES_ONE_BY_ONE.replace("while", "COUNT = 400000\nwhile")}'; exit 3`,
    bytes: 400_000,
    endless: `python3 -c '${BYTES_ONE_BY_ONE.replace("while", "COUNT = -1\nwhile")}'`,
    notice: /shown are the last 1 of 1 line, its beginning cut, 50.0 KiB of 390.6 KiB; all of it is in /,
    shown: /^x{51200}\n$/,
  },
  {
    title: "one line of 300 MB",
    command: "head -c 300000000 /dev/zero | tr '\\0' x; exit 3",
    bytes: 300_000_000,
    endless: "tr '\\0' x </dev/zero",
    notice: /shown are the last 1 of 1 line, its beginning cut, 50.0 KiB of 286.1 MiB; its beginning and end are in /,
    shown: /^x{51200}\n$/,
  },
];

describe.each(FLOODS)("O-OUT-02 $title", ({ command, bytes, endless, notice, shown }) => {
  it("are counted, cut, told and kept, in flat memory on both sides", async () => {
    const peakBefore = await toolHostPeak();
    const { value: result, growth } = await growthDuring(() => sh(command));
    expect([result.status, result.details.exit_code, result.truncated]).toEqual(["failed", 3, true]);
    expect(result.details.output_bytes).toBe(bytes);
    const [text = "", notices = ""] = words(result).split(/(?<=\n)(?=\[)/);
    expect(text).toMatch(shown);
    expect(notices).toMatch(notice);
    expect(growth).toBeLessThan(FLAT_BYTES);
    expect((await toolHostPeak()) - peakBefore).toBeLessThan(FLAT_BYTES);
    await expectKept(result, bytes);
  });

  it("are cancelled in the middle, what came is kept, and the next command works", async () => {
    const cancel = new AbortController();
    let begun: (() => void) | undefined;
    const flowing = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { value: result, growth } = await growthDuring(async () => {
      const running = sandbox.call(
        { tool: "bash", args: { command: endless, timeout: 60 }, deadlineMs: 70_000 },
        { signal: cancel.signal, onOutput: () => begun?.() },
      );
      await flowing;
      // In the middle of it: some of it has gone by.
      await sleep(300);
      const cancelledAt = performance.now();
      cancel.abort();
      const ended = await running;
      expect(performance.now() - cancelledAt).toBeLessThan(ENDED_WITHIN_MS);
      return ended;
    });
    expect([result.status, (result.details.output_bytes ?? 0) > 0]).toEqual(["cancelled", true]);
    expect(words(result)).toMatch(/\[cancelled; its processes were killed and the shell is as before it\]$/);
    expect(growth).toBeLessThan(FLAT_BYTES);
    const after = await sh("echo next");
    expect([after.status, words(after)]).toEqual(["ok", "next\n"]);
    expect(await said("pgrep -x 'yes|tr|python3' | wc -l")).toBe("0");
  });
});

/** The file has all of it, or its head, a line on what is missing, and its tail. */
async function expectKept({ details }: ToolResult, bytes: number): Promise<void> {
  const file = details.output_path ?? "";
  const cap = 64 * MIB;
  const size = Number(await said(`wc -c < ${file}`));
  if (bytes <= cap) return expect(size).toBe(bytes);
  const missing = bytes - cap;
  const line = `\n[${missing} bytes are missing here: the file is full]\n`;
  expect(size).toBe(cap + line.length);
  expect(await said(`grep -aobF '[${missing} bytes are missing here: the file is full]' ${file} | cut -d: -f1`)).toBe(
    String(cap - 4 * MIB + 1),
  );
}

it("O-OUT-02 two sandboxes flood at once, each counted for itself, in flat memory", async () => {
  await using other = await openSandbox(place.root);
  await call(other.sandbox, "bash", { command: "true" });
  const command = "yes | head -c 200000000";
  const { value, growth } = await growthDuring(() =>
    Promise.all([sandbox, other.sandbox].map((one) => call(one, "bash", { command, timeout: 60 }))),
  );
  expect(value.map(({ status, details }) => [status, details.output_bytes])).toEqual([
    ["ok", 200_000_000],
    ["ok", 200_000_000],
  ]);
  expect(growth).toBeLessThan(FLAT_BYTES);
});

it.each([
  ["text", "yes", /^(y\n){2000}\[output cut: shown are the last 2000 of \d+ lines, .*\]\n\[timed out after 2 s/],
  ["random bytes", "cat /dev/urandom", /^\(no output\)\n\[binary output, \d+ bytes; .*\]\n\[timed out after 2 s/],
])("O-OUT-02 endless %s end at the time limit, and live output stays small", async (_, command, shown) => {
  let shows = 0;
  let characters = 0;
  const startedAt = performance.now();
  const { value: result, growth } = await growthDuring(() =>
    sandbox.call(
      { tool: "bash", args: { command, timeout: 2 }, deadlineMs: 60_000 },
      {
        signal: new AbortController().signal,
        onOutput: (text) => {
          shows++;
          characters += text.length;
        },
      },
    ),
  );
  expect(result.status).toBe("timed_out");
  expect(words(result)).toMatch(shown);
  expect(performance.now() - startedAt).toBeLessThan(ENDED_WITHIN_MS);
  expect(growth).toBeLessThan(FLAT_BYTES);
  const seconds = (performance.now() - startedAt) / 1000;
  expect(shows).toBeGreaterThan(1);
  // Ten times a second, and each time a page or two, in one piece or a few.
  expect(characters).toBeLessThanOrEqual((seconds * 10 + 2) * 32 * 1024);
  expect(shows).toBeLessThanOrEqual((seconds * 10 + 2) * 3);
  expect(words(await sh("echo next"))).toBe("next\n");
});

it("O-OUT-03 what stderr says after 10 MB on stdout is in the tail", async () => {
  const result = await sh("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo the end >&2; exit 1");
  expect(words(result)).toMatch(
    /^the end\n\[output cut: shown are the last 1 of 2 lines, 8 bytes of 9.5 MiB; all of it is in .*\]\n\[exit code 1\]$/,
  );
});

it("T30 O-OUT-03 of a last line of 300 KB its end is shown, and all of it can be read", async () => {
  const result = await sh("echo before; head -c 300000 /dev/zero | tr '\\0' x; echo end");
  const [line, notice] = words(result).split("\n");
  expect(line).toBe(`${"x".repeat(51_196)}end`);
  expect(notice).toMatch(
    /^\[output cut: shown are the last 1 of 2 lines, its beginning cut, 50.0 KiB of 293.0 KiB; all of/,
  );
  const path = result.details.output_path ?? "";
  const read = await call(sandbox, "read", { path, limit: 1 });
  expect(words(read)).toBe("before\n[Lines 1-1 of 2; continue with offset 2]");
  expect(await said(`wc -c < ${path}`)).toBe("300011");
});

it("T31 O-OUT-03 of 5,000 lines the last 2,000 are shown by their numbers, and the file has them all", async () => {
  const result = await sh("seq 5000");
  const lines = words(result).split("\n");
  expect([lines[0], lines[1999], lines.length]).toEqual(["3001", "5000", 2001]);
  expect(lines[2000]).toMatch(
    /^\[output cut: shown are the last 2000 of 5000 lines, 9.8 KiB of 23.3 KiB; all of it is in /,
  );
  expect(await said(`wc -l < ${result.details.output_path}`)).toBe("5000");
});

it.each([0, 1, 2, 3, 4, 5, 6, 7])(
  "T32 O-EXEC-02 O-OUT-01 characters cut by chunks and by the limit stay whole, %i bytes in",
  async (before) => {
    const live: string[] = [];
    const result = await sandbox.call(
      {
        tool: "bash",
        args: {
          command: `python3 -c 'import os
data = ("a" * ${before} + "漢🚀é" * 12000 + "\\n").encode()
for at in range(0, len(data), 997): os.write(1, data[at:at + 997])'`,
        },
        deadlineMs: 60_000,
      },
      { signal: new AbortController().signal, onOutput: (text) => live.push(text) },
    );
    const [line = "", notice = ""] = words(result).split("\n");
    expect(line).toMatch(/^é?(?:🚀é)?(漢🚀é)+$/u);
    expect(Buffer.byteLength(`${line}\n`)).toBeGreaterThan(51_200 - 4);
    expect(isWellFormed(words(result))).toBe(true);
    expect(notice).toContain("the last 1 of 1 line, its beginning cut, 50.0 KiB of");
    expect(result.details.output_bytes).toBe(before + 12_000 * 9 + 1);
    expect(live.join("")).toMatch(/^[a漢🚀é\n]+$/u);
  },
);

it("T34 O-OUT-04 random bytes are named with their size, and no sequence for a terminal reaches the model", async () => {
  const random = await sh("head -c 1M /dev/urandom");
  expect(words(random)).toMatch(/^\(no output\)\n\[binary output, 1048576 bytes.*; all of it is in .*\]$/);
  expect(random.truncated).toBe(true);
  const title = await sh("printf 'a\\033]0;owned\\007b\\033[31mc\\033[2J\\033Pq\\033\\\\d\\033]8;;x'");
  expect(words(title)).toBe("abcd");
});
